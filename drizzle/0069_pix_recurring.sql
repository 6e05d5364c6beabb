-- expand
CREATE TABLE "pix_collection_attempts" (
	"end_to_end_id" text PRIMARY KEY NOT NULL,
	"account" text NOT NULL,
	"txid" text NOT NULL,
	"position" integer NOT NULL,
	"kind" text NOT NULL,
	"settles_on" text NOT NULL,
	"status" text NOT NULL,
	"reason" text,
	"history" text NOT NULL
);

CREATE TABLE "pix_collections" (
	"account" text NOT NULL,
	"txid" text NOT NULL,
	"recurrence_id" text NOT NULL,
	"tax_id" text NOT NULL,
	"status" text NOT NULL,
	"due_on" text NOT NULL,
	"cycle" integer NOT NULL,
	"amount_cents" bigint NOT NULL,
	"content" text NOT NULL,
	"history" text NOT NULL,
	"ending" text,
	"next_at" timestamp with time zone,
	"created_at" timestamp with time zone NOT NULL,
	CONSTRAINT "pix_collections_account_txid_pk" PRIMARY KEY("account","txid")
);

CREATE TABLE "pix_recurrence_requests" (
	"id" text PRIMARY KEY NOT NULL,
	"account" text NOT NULL,
	"recurrence_id" text NOT NULL,
	"status" text NOT NULL,
	"recipient" text NOT NULL,
	"history" text NOT NULL,
	"expires_at" timestamp with time zone NOT NULL,
	"created_at" timestamp with time zone NOT NULL
);

ALTER TABLE "pix_recurrences" ADD COLUMN "payer" text;
ALTER TABLE "pix_recurrences" ADD COLUMN "journey" text;
ALTER TABLE "pix_recurrences" ADD COLUMN "ending" text;
ALTER TABLE "pix_collections" ADD CONSTRAINT "pix_collections_recurrence_id_pix_recurrences_id_fk" FOREIGN KEY ("recurrence_id") REFERENCES "public"."pix_recurrences"("id") ON DELETE no action ON UPDATE no action;
ALTER TABLE "pix_recurrence_requests" ADD CONSTRAINT "pix_recurrence_requests_recurrence_id_pix_recurrences_id_fk" FOREIGN KEY ("recurrence_id") REFERENCES "public"."pix_recurrences"("id") ON DELETE no action ON UPDATE no action;
CREATE UNIQUE INDEX "pix_collection_attempts_of" ON "pix_collection_attempts" USING btree ("account","txid","position");
CREATE UNIQUE INDEX "pix_collections_of_receiver" ON "pix_collections" USING btree ("tax_id","txid");
CREATE UNIQUE INDEX "pix_collections_of_cycle" ON "pix_collections" USING btree ("recurrence_id","cycle") WHERE status not in ('REJEITADA', 'CANCELADA');
CREATE INDEX "pix_collections_listed" ON "pix_collections" USING btree ("account","created_at","txid");
CREATE INDEX "pix_collections_by_status" ON "pix_collections" USING btree ("account","status","created_at","txid");
CREATE INDEX "pix_collections_due" ON "pix_collections" USING btree ("next_at") WHERE next_at is not null;
CREATE INDEX "pix_recurrence_requests_of" ON "pix_recurrence_requests" USING btree ("recurrence_id","created_at");
CREATE UNIQUE INDEX "pix_recurrence_requests_live" ON "pix_recurrence_requests" USING btree ("recurrence_id") WHERE status in ('CRIADA', 'ENVIADA', 'RECEBIDA');
CREATE INDEX "pix_recurrence_requests_due" ON "pix_recurrence_requests" USING btree ("expires_at") WHERE status in ('CRIADA', 'ENVIADA', 'RECEBIDA');
CREATE INDEX "pix_recurrences_waiting" ON "pix_recurrences" USING btree ("id") WHERE status = 'CRIADA' and journey is not null;