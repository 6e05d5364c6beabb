-- expand
CREATE UNIQUE INDEX "drex_contracts_known" ON "drex_contracts" USING btree ("address","network","account");