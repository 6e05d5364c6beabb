-- expand
CREATE INDEX "pix_charges_by_kind_shown" ON "pix_charges" USING btree ("account","kind","is_shown","created_at","id");