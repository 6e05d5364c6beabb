-- expand
ALTER TABLE "card_unmatched_advices" ADD COLUMN "currency" text;