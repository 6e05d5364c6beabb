-- expand
ALTER TABLE "spi_messages" ADD COLUMN "sent_at" timestamp with time zone;