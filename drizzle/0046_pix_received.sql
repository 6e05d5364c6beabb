-- expand
CREATE TABLE "pix_received" (
	"end_to_end_id" text PRIMARY KEY NOT NULL,
	"account" text NOT NULL,
	"key" text,
	"txid" text,
	"charge_id" uuid,
	"amount_cents" bigint NOT NULL,
	"payer_tax_id" text NOT NULL,
	"info" text,
	"status" text NOT NULL,
	"refusal" text,
	"received_at" timestamp with time zone NOT NULL,
	"settled_at" timestamp with time zone,
	"has_returns" boolean DEFAULT false NOT NULL
);

CREATE TABLE "pix_returns" (
	"end_to_end_id" text NOT NULL,
	"id" text NOT NULL,
	"return_id" text NOT NULL,
	"amount_cents" bigint NOT NULL,
	"nature" text NOT NULL,
	"description" text,
	"status" text DEFAULT 'EM_PROCESSAMENTO' NOT NULL,
	"reason" text,
	"requested_at" timestamp with time zone NOT NULL,
	"settled_at" timestamp with time zone,
	CONSTRAINT "pix_returns_end_to_end_id_id_pk" PRIMARY KEY("end_to_end_id","id")
);

ALTER TABLE "pix_received" ADD CONSTRAINT "pix_received_charge_id_pix_charges_id_fk" FOREIGN KEY ("charge_id") REFERENCES "public"."pix_charges"("id") ON DELETE set null ON UPDATE no action;
ALTER TABLE "pix_returns" ADD CONSTRAINT "pix_returns_end_to_end_id_pix_received_end_to_end_id_fk" FOREIGN KEY ("end_to_end_id") REFERENCES "public"."pix_received"("end_to_end_id") ON DELETE cascade ON UPDATE no action;
CREATE INDEX "pix_received_charge" ON "pix_received" USING btree ("charge_id") WHERE charge_id is not null;
CREATE INDEX "pix_received_listed" ON "pix_received" USING btree ("account","settled_at","end_to_end_id") WHERE settled_at is not null;
CREATE INDEX "pix_received_by_txid" ON "pix_received" USING btree ("account","txid","settled_at") WHERE settled_at is not null and txid is not null;
CREATE INDEX "pix_received_by_payer" ON "pix_received" USING btree ("account","payer_tax_id","settled_at") WHERE settled_at is not null;
CREATE INDEX "pix_received_returned" ON "pix_received" USING btree ("account","settled_at","end_to_end_id") WHERE settled_at is not null and has_returns;
CREATE UNIQUE INDEX "pix_returns_return_id" ON "pix_returns" USING btree ("return_id");