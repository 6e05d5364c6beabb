-- expand
CREATE TABLE "dict_lookups" (
	"end_to_end_id" text PRIMARY KEY NOT NULL,
	"account" text NOT NULL,
	"salt" text NOT NULL,
	"asked_digest" text NOT NULL,
	"entry_digest" text NOT NULL,
	"was_asked" boolean NOT NULL,
	"created_at" timestamp with time zone NOT NULL,
	"used_at" timestamp with time zone
);

CREATE INDEX "dict_lookups_created_at" ON "dict_lookups" USING btree ("created_at");