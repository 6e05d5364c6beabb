-- expand
CREATE INDEX "card_transactions_authorized" ON "card_transactions" USING btree ("account","id") WHERE status = 'authorized';
CREATE INDEX "drex_agreements_part" ON "drex_agreements" USING btree ("account","kind","part","id");
CREATE INDEX "drex_agreements_part_status" ON "drex_agreements" USING btree ("account","kind","part","status","id");
CREATE INDEX "drex_transfers_to_step" ON "drex_transfers" USING btree ("to_wallet","transaction_id");