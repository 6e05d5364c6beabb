-- expand
CREATE TABLE "spi_entries" (
	"message_id" uuid NOT NULL,
	"position" integer NOT NULL,
	"request_id" text NOT NULL,
	"reference" text NOT NULL,
	"end_to_end_id" text,
	"amount_cents" bigint,
	"direction" text,
	"status" text,
	"booked_on" text,
	"our_cents" bigint,
	"outcome" text NOT NULL,
	CONSTRAINT "spi_entries_message_id_position_pk" PRIMARY KEY("message_id","position")
);

CREATE TABLE "spi_reports" (
	"id" uuid PRIMARY KEY NOT NULL,
	"request_id" text NOT NULL,
	"report" text NOT NULL,
	"entry_id" text,
	"day" text,
	"declared_entries" text,
	"file_hash" text,
	"balances" jsonb,
	"answered_by" uuid,
	CONSTRAINT "spi_reports_request_id_unique" UNIQUE("request_id")
);

CREATE INDEX "spi_entries_outcome" ON "spi_entries" USING btree ("outcome","message_id","position");
CREATE INDEX "spi_entries_request" ON "spi_entries" USING btree ("request_id","message_id","position");