-- expand
CREATE INDEX "pix_received_pending" ON "pix_received" USING btree ("received_at") WHERE status = 'PENDENTE';