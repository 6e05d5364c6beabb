-- expand
CREATE INDEX "drex_transfers_to_own" ON "drex_transfers" USING btree ("to_wallet","account","transaction_id");