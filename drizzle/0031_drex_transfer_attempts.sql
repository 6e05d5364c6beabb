-- expand
ALTER TABLE "drex_transactions" ADD COLUMN "request_attempt" smallint DEFAULT 1 NOT NULL;
ALTER TABLE "drex_transfers" ADD COLUMN "attempt" smallint DEFAULT 1 NOT NULL;
ALTER TABLE "drex_transfers" ADD COLUMN "retried_at" timestamp with time zone;
ALTER TABLE "drex_transfers" ADD COLUMN "retried_by" text;