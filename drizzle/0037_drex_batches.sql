-- expand
ALTER TABLE "drex_transfers" ADD COLUMN "batch" text;
CREATE INDEX "drex_transfers_batch" ON "drex_transfers" USING btree ("batch") WHERE batch is not null;