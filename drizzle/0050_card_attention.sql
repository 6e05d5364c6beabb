-- expand
CREATE INDEX "card_transactions_attention" ON "card_transactions" USING btree ("account","id") WHERE needs_attention;