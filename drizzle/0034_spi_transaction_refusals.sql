-- expand
ALTER TABLE "spi_transactions" ADD COLUMN "refusal" text;
CREATE INDEX "spi_transactions_status" ON "spi_transactions" USING btree ("status","message_id") WHERE status is not null;