-- expand
CREATE INDEX "pix_received_unended" ON "pix_received" USING btree ("received_at","end_to_end_id") WHERE status = 'PENDENTE';