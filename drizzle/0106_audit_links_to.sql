-- expand
CREATE INDEX "audit_links_to" ON "audit_links" USING btree ("to_id") WHERE ids is not null;