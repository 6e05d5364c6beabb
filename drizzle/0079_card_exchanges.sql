-- expand
ALTER TABLE "card_events" ADD COLUMN "exchange" text;