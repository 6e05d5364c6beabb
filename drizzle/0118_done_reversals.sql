-- expand
ALTER TABLE "card_reversals" ADD COLUMN "done_at" timestamp with time zone;