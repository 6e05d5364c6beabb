-- expand
DROP INDEX "pix_received_pending";
DROP INDEX "pix_returns_open";