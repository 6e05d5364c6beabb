CREATE TABLE "card_reversals" (
	"id" bigserial PRIMARY KEY NOT NULL,
	"transaction_id" text NOT NULL,
	"network" text NOT NULL,
	"reverses" text NOT NULL,
	"card_token" text NOT NULL,
	"amount_cents" bigint NOT NULL,
	"currency" text NOT NULL,
	"original_mti" text NOT NULL,
	"original_stan" text NOT NULL,
	"original_transmission" text NOT NULL,
	"rrn" text NOT NULL,
	"auth_code" text,
	"merchant_id" text NOT NULL,
	"terminal_id" text,
	"status" text DEFAULT 'pending' NOT NULL,
	"attempts" integer DEFAULT 0 NOT NULL,
	"next_attempt_at" timestamp with time zone DEFAULT now() NOT NULL,
	"first_attempt_at" timestamp with time zone,
	"last_attempt_at" timestamp with time zone,
	"stan" text,
	"transmission" text,
	"response_code" text,
	"lease_owner" text,
	"lease_until" timestamp with time zone,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"ended_at" timestamp with time zone
);

CREATE UNIQUE INDEX "card_reversals_once" ON "card_reversals" USING btree ("transaction_id","reverses","original_stan","original_transmission") WHERE status = 'pending';
CREATE INDEX "card_reversals_due" ON "card_reversals" USING btree ("network","next_attempt_at") WHERE status = 'pending';
CREATE INDEX "card_reversals_age" ON "card_reversals" USING btree ("created_at") WHERE status = 'pending';
CREATE INDEX "card_reversals_transaction" ON "card_reversals" USING btree ("transaction_id","id");