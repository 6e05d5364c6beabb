-- expand
ALTER TABLE "webhook_events" ALTER COLUMN "created_at" SET DEFAULT clock_timestamp();
ALTER TABLE "webhook_endpoints" ADD COLUMN "disabled_at" timestamp with time zone;