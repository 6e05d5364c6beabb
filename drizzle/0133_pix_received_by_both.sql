-- expand
CREATE INDEX "pix_received_by_both" ON "pix_received" USING btree ("account",(has_returns::int * 2 + (txid is not null)::int),"settled_at","end_to_end_id") WHERE settled_at is not null;