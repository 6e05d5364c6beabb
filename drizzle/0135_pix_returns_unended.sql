-- expand
CREATE INDEX "pix_returns_unended" ON "pix_returns" USING btree ("requested_at","end_to_end_id") WHERE status = 'EM_PROCESSAMENTO';