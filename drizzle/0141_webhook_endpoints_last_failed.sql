-- expand
ALTER TABLE "webhook_endpoints" ADD COLUMN "last_failed_at" timestamp with time zone;