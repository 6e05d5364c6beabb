-- expand
CREATE INDEX "webhook_endpoints_of_types" ON "webhook_endpoints" USING btree ("account") WHERE topic is null;