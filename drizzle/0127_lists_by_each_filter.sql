-- expand
CREATE INDEX "pix_collections_by_agreement" ON "pix_collections" USING btree ("account","agreement","created_at","txid") WHERE agreement is not null;
CREATE INDEX "pix_recurrences_by_use" ON "pix_recurrences" USING btree ("account",(location_id is not null),"created_at","id");
CREATE INDEX "pix_locations_by_kind" ON "pix_locations" USING btree ("account","kind","created_at","id");
CREATE INDEX "pix_received_by_naming" ON "pix_received" USING btree ("account",(txid is not null),"settled_at","end_to_end_id") WHERE settled_at is not null;