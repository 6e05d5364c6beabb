CREATE TABLE "broker_log" (
	"topic" text NOT NULL,
	"partition" smallint NOT NULL,
	"xid" "xid8" NOT NULL,
	"id" bigint GENERATED ALWAYS AS IDENTITY (sequence name "broker_log_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 32),
	"key" text,
	"headers" jsonb,
	"value" "bytea" NOT NULL,
	"published_at" timestamp with time zone DEFAULT now() NOT NULL
) PARTITION BY RANGE ("published_at");

-- Compressing is the publisher's choice: pglz costs more here than the bytes it saves.
ALTER TABLE "broker_log" ALTER COLUMN "value" SET STORAGE EXTERNAL;

CREATE TABLE "broker_log_default" PARTITION OF "broker_log" DEFAULT;

CREATE TABLE "broker_positions" (
	"topic" text NOT NULL,
	"group_name" text NOT NULL,
	"partition" integer NOT NULL,
	"xid" "xid8" DEFAULT '0' NOT NULL,
	"id" bigint DEFAULT 0 NOT NULL,
	"settled_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "broker_positions_topic_group_name_partition_pk" PRIMARY KEY("topic","group_name","partition")
);

CREATE INDEX "broker_log_position" ON "broker_log" USING btree ("topic","partition","xid","id");