-- expand
ALTER TABLE "card_reversals" ADD COLUMN "installments" integer DEFAULT 1 NOT NULL;
ALTER TABLE "card_reversals" ADD COLUMN "details" jsonb;
ALTER TABLE "card_reversals" ADD COLUMN "remaining_cents" bigint;
ALTER TABLE "card_transactions" ADD COLUMN "reference" text;
ALTER TABLE "card_transactions" ADD COLUMN "details" jsonb;
ALTER TABLE "card_transactions" ADD COLUMN "refunded_cents" bigint;
ALTER TABLE "card_transactions" ADD COLUMN "reversed_cents" bigint;
ALTER TABLE "card_transactions" ADD COLUMN "refund_error" text;
CREATE INDEX "card_transactions_reference" ON "card_transactions" USING btree ("reference","id") WHERE reference is not null;