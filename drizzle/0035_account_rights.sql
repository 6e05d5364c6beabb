-- expand
CREATE TABLE "audit_links" (
	"seq" bigint PRIMARY KEY NOT NULL,
	"from_id" uuid NOT NULL,
	"to_id" uuid NOT NULL,
	"is_late" boolean DEFAULT false NOT NULL,
	"ids" uuid[],
	"hashes" "bytea",
	"hash" "bytea" NOT NULL,
	"sealed_at" timestamp with time zone DEFAULT now() NOT NULL,
	"dropped_at" timestamp with time zone
);

CREATE TABLE "rate_buckets" (
	"subject" text PRIMARY KEY NOT NULL,
	"tokens" double precision NOT NULL,
	"at" timestamp with time zone NOT NULL
);

ALTER TABLE "card_transactions" ADD COLUMN "account" text DEFAULT 'default' NOT NULL;
ALTER TABLE "api_keys" ADD COLUMN "previous_hash" text;
ALTER TABLE "api_keys" ADD COLUMN "previous_until" timestamp with time zone;
ALTER TABLE "api_keys" ADD COLUMN "restrictions" jsonb DEFAULT '{}'::jsonb NOT NULL;
ALTER TABLE "webhook_endpoints" ADD COLUMN "account" text DEFAULT 'default' NOT NULL;
ALTER TABLE "webhook_endpoints" ADD COLUMN "created_by" text;
ALTER TABLE "webhook_events" ADD COLUMN "account" text;
CREATE INDEX "card_transactions_account" ON "card_transactions" USING btree ("account","id");

-- Accounts are older than the owners of transactions. Where cards have a database of their own it holds no keys.
UPDATE "card_transactions" t SET "account" = k."account" FROM "api_keys" k
WHERE k."id" = t."created_by" AND k."account" <> 'default';
