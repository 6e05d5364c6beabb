-- expand
CREATE INDEX "webhook_deliveries_of_status" ON "webhook_deliveries" USING btree ("status","endpoint_id","created_at","id");