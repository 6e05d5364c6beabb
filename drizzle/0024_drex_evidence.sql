CREATE TABLE "drex_corrections" (
	"id" text PRIMARY KEY NOT NULL,
	"transaction_id" text NOT NULL,
	"from_status" text NOT NULL,
	"to_status" text NOT NULL,
	"reason" jsonb NOT NULL,
	"hash" text,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL
);

ALTER TABLE "drex_network_state" ADD COLUMN "checkpoint_number" bigint;
ALTER TABLE "drex_network_state" ADD COLUMN "checkpoint_hash" text;
ALTER TABLE "drex_transactions" ADD COLUMN "mismatch" text;
CREATE INDEX "drex_corrections_transaction" ON "drex_corrections" USING btree ("transaction_id","id");
CREATE INDEX "drex_transactions_block" ON "drex_transactions" USING btree ("network","block_number") WHERE block_number is not null;