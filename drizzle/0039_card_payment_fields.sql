-- expand
CREATE TABLE "spi_recurrence_steps" (
	"recurrence_id" text NOT NULL,
	"message_id" uuid NOT NULL,
	"position" integer NOT NULL,
	"type" text NOT NULL,
	"direction" text NOT NULL,
	"request_id" text,
	"status" text,
	"reason" text,
	"state" text,
	CONSTRAINT "spi_recurrence_steps_recurrence_id_message_id_position_pk" PRIMARY KEY("recurrence_id","message_id","position")
);

CREATE TABLE "spi_recurrences" (
	"id" text PRIMARY KEY NOT NULL,
	"kind" text NOT NULL,
	"key" text NOT NULL,
	"state" text,
	"state_before" text,
	"mandate_id" text,
	"reconciliation_id" text,
	"terms" jsonb,
	"created_by" uuid NOT NULL,
	"changed_by" uuid
);

CREATE INDEX "spi_recurrence_steps_message" ON "spi_recurrence_steps" USING btree ("message_id");
CREATE INDEX "spi_recurrences_listed" ON "spi_recurrences" USING btree ("kind","created_by","key");
CREATE INDEX "spi_recurrences_state" ON "spi_recurrences" USING btree ("kind","state","created_by","key");
CREATE INDEX "spi_recurrences_mandate" ON "spi_recurrences" USING btree ("mandate_id","kind","created_by","key");