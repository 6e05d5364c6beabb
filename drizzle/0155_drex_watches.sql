-- expand
CREATE TABLE "drex_watches" (
	"id" text PRIMARY KEY NOT NULL,
	"address" text NOT NULL,
	"label" text NOT NULL,
	"metadata" jsonb NOT NULL,
	"account" text DEFAULT 'default' NOT NULL,
	"environment" text,
	"status" text DEFAULT 'active' NOT NULL,
	"policy" jsonb DEFAULT '{}'::jsonb NOT NULL,
	"alerts" jsonb DEFAULT '{}'::jsonb NOT NULL,
	"created_by" text NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL
);

CREATE UNIQUE INDEX "drex_watches_address" ON "drex_watches" USING btree ("address","account");
CREATE INDEX "drex_watches_account" ON "drex_watches" USING btree ("account","id");
CREATE INDEX "drex_watches_alerted" ON "drex_watches" USING btree ("id") WHERE alerts <> '{}';