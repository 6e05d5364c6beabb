-- expand
ALTER TABLE "card_movements" ADD COLUMN "transaction_fee_cents" bigint;
ALTER TABLE "card_movements" ADD COLUMN "processing_fee_cents" bigint;