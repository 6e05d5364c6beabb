CREATE TABLE "spi_history" (
	"message_id" uuid NOT NULL,
	"position" integer NOT NULL,
	"status" text NOT NULL,
	"at" timestamp with time zone DEFAULT now() NOT NULL,
	"detail" text,
	CONSTRAINT "spi_history_message_id_position_pk" PRIMARY KEY("message_id","position")
) PARTITION BY RANGE ("message_id");

CREATE TABLE "spi_history_default" PARTITION OF "spi_history" DEFAULT;

CREATE TABLE "spi_message_keys" (
	"kind" text NOT NULL,
	"key" text NOT NULL,
	"message_id" uuid NOT NULL,
	CONSTRAINT "spi_message_keys_kind_key_pk" PRIMARY KEY("kind","key")
);

CREATE TABLE "spi_messages" (
	"id" uuid PRIMARY KEY NOT NULL,
	"type" text,
	"definition" text,
	"direction" text NOT NULL,
	"status" text NOT NULL,
	"channel" text,
	"source_ispb" text,
	"destination_ispb" text,
	"end_to_end_id" text,
	"biz_msg_idr" text,
	"resource_id" text,
	"transaction_count" integer NOT NULL,
	"error_code" text,
	"signature" text NOT NULL,
	"warnings" jsonb,
	"xml" "bytea" NOT NULL
) PARTITION BY RANGE ("id");

CREATE TABLE "spi_messages_default" PARTITION OF "spi_messages" DEFAULT;

CREATE TABLE "spi_transactions" (
	"message_id" uuid NOT NULL,
	"position" integer NOT NULL,
	"end_to_end_id" text,
	"instruction_id" text,
	"amount_cents" bigint,
	"debtor_ispb" text,
	"creditor_ispb" text,
	"status" text,
	CONSTRAINT "spi_transactions_message_id_position_pk" PRIMARY KEY("message_id","position")
) PARTITION BY RANGE ("message_id");

CREATE TABLE "spi_transactions_default" PARTITION OF "spi_transactions" DEFAULT;

CREATE INDEX "spi_messages_type" ON "spi_messages" USING btree ("type","id");
CREATE INDEX "spi_messages_direction" ON "spi_messages" USING btree ("direction","id");
CREATE INDEX "spi_messages_status" ON "spi_messages" USING btree ("status","id");
CREATE INDEX "spi_messages_source" ON "spi_messages" USING btree ("source_ispb","id");
CREATE INDEX "spi_messages_destination" ON "spi_messages" USING btree ("destination_ispb","id");
CREATE INDEX "spi_transactions_end_to_end_id" ON "spi_transactions" USING btree ("end_to_end_id","message_id");
CREATE INDEX "spi_transactions_instruction_id" ON "spi_transactions" USING btree ("instruction_id","message_id");

-- Compressed already.
ALTER TABLE "spi_messages" ALTER COLUMN "xml" SET STORAGE EXTERNAL;
ALTER TABLE "spi_messages_default" ALTER COLUMN "xml" SET STORAGE EXTERNAL;
