-- expand
ALTER TABLE "card_events" ADD COLUMN "messages" jsonb;