-- expand
CREATE INDEX "pix_collections_unfilled" ON "pix_collections" USING btree ("agreement") WHERE agreement is null;