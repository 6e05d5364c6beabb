-- expand
CREATE TABLE "pix_recurrence_locations" (
	"id" bigserial PRIMARY KEY NOT NULL,
	"account" text NOT NULL,
	"token" text NOT NULL,
	"created_at" timestamp with time zone NOT NULL
);

CREATE TABLE "pix_recurrences" (
	"id" text PRIMARY KEY NOT NULL,
	"account" text NOT NULL,
	"tax_id" text NOT NULL,
	"receiver_name" text NOT NULL,
	"agreement" text,
	"status" text DEFAULT 'CRIADA' NOT NULL,
	"debtor_tax_id" text NOT NULL,
	"terms" text NOT NULL,
	"history" text NOT NULL,
	"location_id" bigint,
	"created_at" timestamp with time zone NOT NULL
);

ALTER TABLE "pix_recurrences" ADD CONSTRAINT "pix_recurrences_location_id_pix_recurrence_locations_id_fk" FOREIGN KEY ("location_id") REFERENCES "public"."pix_recurrence_locations"("id") ON DELETE no action ON UPDATE no action;
CREATE UNIQUE INDEX "pix_recurrence_locations_token" ON "pix_recurrence_locations" USING btree ("token");
CREATE INDEX "pix_recurrence_locations_listed" ON "pix_recurrence_locations" USING btree ("account","created_at","id");
CREATE UNIQUE INDEX "pix_recurrences_location" ON "pix_recurrences" USING btree ("location_id");
CREATE INDEX "pix_recurrences_listed" ON "pix_recurrences" USING btree ("account","created_at","id");
CREATE INDEX "pix_recurrences_by_status" ON "pix_recurrences" USING btree ("account","status","created_at","id");
CREATE INDEX "pix_recurrences_by_debtor" ON "pix_recurrences" USING btree ("account","debtor_tax_id","created_at","id");