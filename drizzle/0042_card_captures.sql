-- expand
ALTER TABLE "card_transactions" ADD COLUMN "captures" jsonb;