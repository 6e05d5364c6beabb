-- expand
CREATE TABLE "card_unmatched_advices" (
	"id" bigserial PRIMARY KEY NOT NULL,
	"network" text NOT NULL,
	"mti" text NOT NULL,
	"stan" text NOT NULL,
	"transmission" text NOT NULL,
	"rrn" text NOT NULL,
	"processing_code" text,
	"amount_cents" bigint,
	"response_code" text,
	"times" integer DEFAULT 1 NOT NULL,
	"first_at" timestamp with time zone DEFAULT now() NOT NULL,
	"last_at" timestamp with time zone DEFAULT now() NOT NULL,
	"resolved_at" timestamp with time zone,
	"resolved_by" text,
	"resolved_reason" text
);

CREATE UNIQUE INDEX "card_unmatched_advices_once" ON "card_unmatched_advices" USING btree ("network","mti","stan","transmission","rrn");
CREATE INDEX "card_unmatched_advices_open" ON "card_unmatched_advices" USING btree ("network","id") WHERE resolved_at is null;