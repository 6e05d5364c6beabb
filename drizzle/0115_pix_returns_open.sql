-- expand
CREATE INDEX "pix_returns_open" ON "pix_returns" USING btree ("requested_at") WHERE status = 'EM_PROCESSAMENTO';