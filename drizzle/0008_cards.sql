CREATE TABLE "card_events" (
	"id" bigserial PRIMARY KEY NOT NULL,
	"transaction_id" text NOT NULL,
	"type" text NOT NULL,
	"data" jsonb NOT NULL,
	"at" timestamp with time zone NOT NULL
);

CREATE TABLE "card_stan_blocks" (
	"network" text PRIMARY KEY NOT NULL,
	"next" integer NOT NULL
);

CREATE TABLE "card_transactions" (
	"id" text PRIMARY KEY NOT NULL,
	"status" text NOT NULL,
	"operation" text,
	"operation_stan" text,
	"operation_transmission" text,
	"operation_cents" bigint,
	"network" text NOT NULL,
	"brand" text NOT NULL,
	"card_token" text NOT NULL,
	"amount_cents" bigint NOT NULL,
	"captured_cents" bigint,
	"currency" text NOT NULL,
	"merchant_id" text NOT NULL,
	"terminal_id" text,
	"installments" integer NOT NULL,
	"stan" text NOT NULL,
	"rrn" text NOT NULL,
	"transmission" text NOT NULL,
	"auth_code" text,
	"response_code" text,
	"capture_error" text,
	"void_error" text,
	"reason" text,
	"needs_attention" boolean DEFAULT false NOT NULL,
	"claim_owner" text,
	"claim_key" text,
	"created_by" text NOT NULL,
	"created_at" timestamp with time zone NOT NULL,
	"updated_at" timestamp with time zone NOT NULL,
	"captured_at" timestamp with time zone,
	"voided_at" timestamp with time zone
);

CREATE INDEX "card_events_transaction" ON "card_events" USING btree ("transaction_id","id");
CREATE UNIQUE INDEX "card_transactions_message" ON "card_transactions" USING btree ("network","rrn","transmission");
CREATE INDEX "card_transactions_merchant" ON "card_transactions" USING btree ("merchant_id","id");
CREATE INDEX "card_transactions_open" ON "card_transactions" USING btree ("updated_at") WHERE status = 'pending' or operation is not null;