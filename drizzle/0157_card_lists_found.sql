-- expand
CREATE INDEX "card_transactions_status" ON "card_transactions" USING btree ("status","account","id");
CREATE INDEX "card_transactions_merchant_status" ON "card_transactions" USING btree ("merchant_id","account","status","id");