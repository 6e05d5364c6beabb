-- expand
CREATE INDEX "webhook_endpoints_inactive" ON "webhook_endpoints" USING btree ("disabled_at") WHERE not active and disabled_at is not null;