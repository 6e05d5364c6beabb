-- expand
CREATE INDEX "webhook_endpoints_listed" ON "webhook_endpoints" USING btree ("account","created_at","id","created_by");
CREATE INDEX "webhook_endpoints_disabled" ON "webhook_endpoints" USING btree ("account") WHERE disabled_reason in ('gone', 'failing');