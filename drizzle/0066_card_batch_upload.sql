-- expand
ALTER TABLE "card_reconciliations" ADD COLUMN "upload" text;
ALTER TABLE "card_reconciliations" ADD COLUMN "uploaded_to" bigint;
ALTER TABLE "card_reconciliations" ADD COLUMN "uploaded" integer DEFAULT 0 NOT NULL;
ALTER TABLE "card_reconciliations" ADD COLUMN "uploads_refused" integer DEFAULT 0 NOT NULL;