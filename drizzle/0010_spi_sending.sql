ALTER TABLE "spi_messages" ADD COLUMN "envelope" text;
ALTER TABLE "spi_messages" ADD COLUMN "in_doubt_since" timestamp with time zone;
ALTER TABLE "spi_messages" ADD COLUMN "requeue_after" timestamp with time zone;
CREATE INDEX "spi_messages_in_doubt" ON "spi_messages" USING btree ("id") WHERE in_doubt_since is not null and status in ('QUEUED', 'UNKNOWN');