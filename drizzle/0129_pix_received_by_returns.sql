-- expand
CREATE INDEX "pix_received_by_returns" ON "pix_received" USING btree ("account","has_returns","settled_at","end_to_end_id") WHERE settled_at is not null;