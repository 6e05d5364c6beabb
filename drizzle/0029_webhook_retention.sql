DROP INDEX "webhook_events_created";
ALTER TABLE "webhook_sequences" ADD COLUMN "updated_at" timestamp with time zone DEFAULT now() NOT NULL;
CREATE INDEX "webhook_deliveries_exhausted" ON "webhook_deliveries" USING btree ("endpoint_id","created_at") WHERE status = 'exhausted';