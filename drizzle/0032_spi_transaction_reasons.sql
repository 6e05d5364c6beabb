-- expand
ALTER TABLE "spi_transactions" ADD COLUMN "reason" text;