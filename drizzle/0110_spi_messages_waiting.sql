-- expand
ALTER TABLE "spi_messages" ADD COLUMN "waits_for" text;
ALTER TABLE "spi_messages" ADD COLUMN "requeued_at" timestamp with time zone;