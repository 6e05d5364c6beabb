-- expand
CREATE INDEX "drex_transfers_from_account" ON "drex_transfers" USING btree ("from_wallet","account","id");
CREATE INDEX "drex_transfers_to_account" ON "drex_transfers" USING btree ("to_wallet","account","id");