-- expand
CREATE INDEX "drex_transactions_unsent" ON "drex_transactions" USING btree ("network","sender","created_at","id") WHERE status = 'pending' and held is null;