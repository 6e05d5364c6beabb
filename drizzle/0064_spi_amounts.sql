-- expand
CREATE INDEX "spi_transactions_amount" ON "spi_transactions" USING btree ("amount_cents","message_id") WHERE amount_cents is not null;