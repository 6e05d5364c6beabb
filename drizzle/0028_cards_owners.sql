DROP INDEX "card_transactions_open";
ALTER TABLE "card_stan_blocks" ADD COLUMN "hour" timestamp with time zone;
ALTER TABLE "card_stan_blocks" ADD COLUMN "round" integer DEFAULT 0 NOT NULL;
ALTER TABLE "card_transactions" ADD COLUMN "capture_stan" text;
ALTER TABLE "card_transactions" ADD COLUMN "capture_transmission" text;
ALTER TABLE "card_transactions" ADD COLUMN "touched_at" timestamp with time zone DEFAULT now() NOT NULL;
CREATE INDEX "card_transactions_open" ON "card_transactions" USING btree ("touched_at") WHERE status = 'pending' or operation is not null;