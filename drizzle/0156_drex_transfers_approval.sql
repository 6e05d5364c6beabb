-- expand
CREATE INDEX "drex_transfers_approval" ON "drex_transfers" USING btree ("account","id") WHERE approval = 'required';