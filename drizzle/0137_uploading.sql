-- expand
ALTER TABLE "card_reconciliations" ADD COLUMN "uploading_id" bigint;
ALTER TABLE "card_reconciliations" ADD COLUMN "uploading_cents" bigint;