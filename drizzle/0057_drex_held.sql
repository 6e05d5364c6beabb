-- expand
ALTER TABLE "drex_transactions" ADD COLUMN "held" jsonb;
CREATE INDEX "drex_transactions_held" ON "drex_transactions" USING btree ("network","id") WHERE held is not null;