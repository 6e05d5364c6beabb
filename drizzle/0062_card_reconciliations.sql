-- expand
CREATE TABLE "card_business_days" (
	"network" text PRIMARY KEY NOT NULL,
	"day" date NOT NULL,
	"since" timestamp with time zone DEFAULT now() NOT NULL
);

CREATE TABLE "card_movements" (
	"id" bigserial PRIMARY KEY NOT NULL,
	"network" text NOT NULL,
	"day" date NOT NULL,
	"currency" text NOT NULL,
	"kind" text NOT NULL,
	"amount_cents" bigint NOT NULL,
	"transaction_id" text NOT NULL,
	"stan" text NOT NULL,
	"transmission" text NOT NULL,
	"at" timestamp with time zone DEFAULT now() NOT NULL
);

CREATE TABLE "card_reconciliations" (
	"id" bigserial PRIMARY KEY NOT NULL,
	"network" text NOT NULL,
	"day" date NOT NULL,
	"currency" text NOT NULL,
	"status" text DEFAULT 'pending' NOT NULL,
	"ours" jsonb,
	"theirs" jsonb,
	"stan" text,
	"transmission" text,
	"attempts" integer DEFAULT 0 NOT NULL,
	"next_attempt_at" timestamp with time zone NOT NULL,
	"lease_until" timestamp with time zone,
	"response_code" text,
	"settlement_code" text,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"sent_at" timestamp with time zone,
	"ended_at" timestamp with time zone,
	"resolved_at" timestamp with time zone,
	"resolved_by" text,
	"resolved_reason" text
);

CREATE UNIQUE INDEX "card_movements_once" ON "card_movements" USING btree ("transaction_id","kind","stan","transmission");
CREATE INDEX "card_movements_day" ON "card_movements" USING btree ("network","day","id");
CREATE UNIQUE INDEX "card_reconciliations_once" ON "card_reconciliations" USING btree ("network","day","currency");
CREATE INDEX "card_reconciliations_due" ON "card_reconciliations" USING btree ("next_attempt_at") WHERE status = 'pending';
CREATE INDEX "card_reconciliations_open" ON "card_reconciliations" USING btree ("network") WHERE status in ('different', 'refused', 'unanswered') and resolved_at is null;