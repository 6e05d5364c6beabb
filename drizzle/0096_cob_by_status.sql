-- expand
CREATE INDEX "pix_cob_by_status" ON "pix_charges" USING btree ("account","status","created_at","id") WHERE kind = 'cob';