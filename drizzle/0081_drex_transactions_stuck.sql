-- expand
CREATE INDEX "drex_transactions_stuck" ON "drex_transactions" USING btree ("network","sender") WHERE status = 'signed' and error is not null;