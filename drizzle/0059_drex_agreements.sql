-- expand
CREATE TABLE "drex_agreement_events" (
	"agreement_id" text NOT NULL,
	"network" text NOT NULL,
	"block_number" bigint NOT NULL,
	"log_index" integer NOT NULL,
	"hash" text NOT NULL,
	"name" text NOT NULL,
	"args" jsonb NOT NULL,
	"mismatch" text,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "drex_agreement_events_pk" PRIMARY KEY("agreement_id","block_number","log_index")
);

CREATE TABLE "drex_agreement_positions" (
	"network" text PRIMARY KEY NOT NULL,
	"block_number" bigint NOT NULL,
	"block_hash" text,
	"anchors" jsonb DEFAULT '[]'::jsonb NOT NULL
);

CREATE TABLE "drex_agreements" (
	"id" text PRIMARY KEY NOT NULL,
	"kind" text NOT NULL,
	"status" text NOT NULL,
	"network" text NOT NULL,
	"contract" text,
	"wallet" text NOT NULL,
	"part" text NOT NULL,
	"terms" jsonb NOT NULL,
	"state" jsonb NOT NULL,
	"expiry" bigint,
	"until_block" bigint,
	"reference" text,
	"account" text NOT NULL,
	"created_by" text NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"changed_at" timestamp with time zone DEFAULT now() NOT NULL
);

CREATE INDEX "drex_agreement_events_block" ON "drex_agreement_events" USING btree ("network","block_number");
CREATE INDEX "drex_agreements_account" ON "drex_agreements" USING btree ("account","kind","id");
CREATE INDEX "drex_agreements_followed" ON "drex_agreements" USING btree ("network","until_block");