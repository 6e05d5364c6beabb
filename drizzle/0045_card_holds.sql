-- expand
CREATE INDEX "card_transactions_held" ON "card_transactions" USING btree ("network","created_at") WHERE status = 'authorized' and operation is null;