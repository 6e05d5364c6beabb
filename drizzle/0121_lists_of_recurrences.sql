-- expand
CREATE INDEX "pix_collections_of_recurrence" ON "pix_collections" USING btree ("recurrence_id","created_at","txid");
CREATE INDEX "pix_recurrences_by_agreement" ON "pix_recurrences" USING btree ("account","agreement","created_at","id");