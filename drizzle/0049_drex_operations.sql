-- expand
CREATE TABLE "drex_operations" (
	"id" text PRIMARY KEY NOT NULL,
	"kind" text NOT NULL,
	"transaction_id" text NOT NULL,
	"network" text NOT NULL,
	"signer" text NOT NULL,
	"params" jsonb NOT NULL,
	"reference" text,
	"account" text NOT NULL,
	"created_by" text NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL
);

CREATE INDEX "drex_operations_account" ON "drex_operations" USING btree ("account","id");