-- expand
CREATE INDEX "pix_cob_listed" ON "pix_charges" USING btree ("account","created_at","id") WHERE kind = 'cob';