-- expand
DROP INDEX "pix_received_returned";