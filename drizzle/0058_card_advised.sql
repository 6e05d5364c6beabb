-- expand
ALTER TABLE "card_reversals" ADD COLUMN "capture_number" integer;
ALTER TABLE "card_reversals" ADD COLUMN "expiry_hours" integer;
ALTER TABLE "card_transactions" ADD COLUMN "capture_advised" boolean;
ALTER TABLE "card_transactions" ADD COLUMN "stand_in" boolean;