-- expand
CREATE INDEX "drex_transactions_ended" ON "drex_transactions" USING btree ("status","subject") WHERE status in ('reverted', 'failed', 'cancelled');