-- expand
CREATE INDEX "drex_agreements_status" ON "drex_agreements" USING btree ("account","kind","status","id");
CREATE INDEX "drex_contracts_account" ON "drex_contracts" USING btree ("account","id");
CREATE INDEX "drex_contracts_transaction" ON "drex_contracts" USING btree ("transaction_id");
CREATE INDEX "api_keys_account" ON "api_keys" USING btree ("account","created_at","id");