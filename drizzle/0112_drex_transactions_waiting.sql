-- expand
CREATE INDEX "drex_transactions_waiting" ON "drex_transactions" USING btree ("subject") WHERE status = 'pending';