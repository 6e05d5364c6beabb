-- expand
ALTER TABLE "spi_transactions" ADD COLUMN "settled_at" timestamp with time zone;
ALTER TABLE "spi_entries" ADD COLUMN "valued_at" timestamp with time zone;