-- expand
ALTER TABLE "card_transactions" ADD COLUMN "requested_cents" bigint;
ALTER TABLE "card_transactions" ADD COLUMN "increment_error" text;