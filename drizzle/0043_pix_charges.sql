-- expand
CREATE TABLE "pix_charge_revisions" (
	"charge_id" uuid NOT NULL,
	"revision" integer NOT NULL,
	"charge" text NOT NULL,
	CONSTRAINT "pix_charge_revisions_charge_id_revision_pk" PRIMARY KEY("charge_id","revision")
);

CREATE TABLE "pix_charges" (
	"id" uuid PRIMARY KEY NOT NULL,
	"account" text NOT NULL,
	"tax_id" text NOT NULL,
	"txid" text NOT NULL,
	"status" text DEFAULT 'ATIVA' NOT NULL,
	"revision" integer DEFAULT 0 NOT NULL,
	"key" text NOT NULL,
	"original_cents" bigint NOT NULL,
	"alteration" smallint DEFAULT 0 NOT NULL,
	"expires_seconds" integer NOT NULL,
	"debtor_tax_id" text,
	"content" text NOT NULL,
	"is_shown" boolean DEFAULT false NOT NULL,
	"created_at" timestamp with time zone NOT NULL
);

CREATE TABLE "pix_locations" (
	"id" bigserial PRIMARY KEY NOT NULL,
	"account" text NOT NULL,
	"token" text NOT NULL,
	"kind" text NOT NULL,
	"charge_id" uuid,
	"created_at" timestamp with time zone NOT NULL
);

CREATE TABLE "pix_receivers" (
	"key" text PRIMARY KEY NOT NULL,
	"account" text NOT NULL,
	"tax_id" text NOT NULL,
	"name" text NOT NULL,
	"city" text NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL
);

CREATE TABLE "pix_tokens" (
	"hash" text PRIMARY KEY NOT NULL,
	"key_id" text NOT NULL,
	"scopes" text[] NOT NULL,
	"certificate" text,
	"expires_at" timestamp with time zone NOT NULL
);

ALTER TABLE "pix_charge_revisions" ADD CONSTRAINT "pix_charge_revisions_charge_id_pix_charges_id_fk" FOREIGN KEY ("charge_id") REFERENCES "public"."pix_charges"("id") ON DELETE cascade ON UPDATE no action;
ALTER TABLE "pix_locations" ADD CONSTRAINT "pix_locations_charge_id_pix_charges_id_fk" FOREIGN KEY ("charge_id") REFERENCES "public"."pix_charges"("id") ON DELETE set null ON UPDATE no action;
CREATE UNIQUE INDEX "pix_charges_of_account" ON "pix_charges" USING btree ("account","txid");
CREATE UNIQUE INDEX "pix_charges_of_receiver" ON "pix_charges" USING btree ("tax_id","txid");
CREATE INDEX "pix_charges_listed" ON "pix_charges" USING btree ("account","created_at","id");
CREATE INDEX "pix_charges_by_status" ON "pix_charges" USING btree ("account","status","created_at","id");
CREATE INDEX "pix_charges_by_shown" ON "pix_charges" USING btree ("account","is_shown","created_at","id");
CREATE INDEX "pix_charges_by_debtor" ON "pix_charges" USING btree ("account","debtor_tax_id","created_at","id") WHERE debtor_tax_id is not null;
CREATE UNIQUE INDEX "pix_locations_token" ON "pix_locations" USING btree ("token");
CREATE UNIQUE INDEX "pix_locations_charge" ON "pix_locations" USING btree ("charge_id") WHERE charge_id is not null;
CREATE INDEX "pix_locations_listed" ON "pix_locations" USING btree ("account","created_at","id");
CREATE INDEX "pix_locations_by_use" ON "pix_locations" USING btree ("account",(charge_id is not null),"created_at","id");
CREATE INDEX "pix_receivers_tax_id" ON "pix_receivers" USING btree ("tax_id");
CREATE INDEX "pix_receivers_account" ON "pix_receivers" USING btree ("account","key");
CREATE INDEX "pix_tokens_expires_at" ON "pix_tokens" USING btree ("expires_at");