-- expand
CREATE TABLE "drex_stream_events" (
	"stream_id" text NOT NULL,
	"block_number" bigint NOT NULL,
	"block_hash" text NOT NULL,
	"log_index" integer NOT NULL,
	"data" jsonb NOT NULL,
	CONSTRAINT "drex_stream_events_pk" PRIMARY KEY("stream_id","block_number","block_hash","log_index")
);

CREATE TABLE "drex_streams" (
	"id" text PRIMARY KEY NOT NULL,
	"account" text NOT NULL,
	"contract_id" text NOT NULL,
	"network" text NOT NULL,
	"address" text NOT NULL,
	"event" text NOT NULL,
	"filter" jsonb NOT NULL,
	"topics" jsonb NOT NULL,
	"block_number" bigint NOT NULL,
	"block_hash" text,
	"anchors" jsonb DEFAULT '[]'::jsonb NOT NULL,
	"created_by" text NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL
);

CREATE INDEX "drex_streams_contract" ON "drex_streams" USING btree ("contract_id","account");
CREATE INDEX "drex_streams_network" ON "drex_streams" USING btree ("network","id");