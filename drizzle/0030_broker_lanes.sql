-- contract
CREATE SEQUENCE "public"."broker_queue_order" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1;
CREATE TABLE "broker_backlogs" (
	"topic" text PRIMARY KEY NOT NULL,
	"depth" integer NOT NULL,
	"oldest_at" timestamp with time zone,
	"lanes_read" integer NOT NULL,
	"sampled_at" timestamp with time zone NOT NULL
);

CREATE TABLE "broker_dead_letters" (
	"id" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "broker_dead_letters_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"key" text,
	"headers" jsonb,
	"value" "bytea" NOT NULL,
	"published_at" timestamp with time zone DEFAULT now() NOT NULL
);

CREATE TABLE "broker_lanes" (
	"lane" integer PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "broker_lanes_lane_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 2147483647 START WITH 1 CACHE 1),
	"topic" text NOT NULL,
	"partition" smallint NOT NULL,
	"owner" text,
	"until" timestamp with time zone,
	CONSTRAINT "broker_lanes_place" UNIQUE("topic","partition")
);

CREATE TABLE "broker_members" (
	"member" text PRIMARY KEY NOT NULL,
	"topics" text[] NOT NULL,
	"until" timestamp with time zone NOT NULL
);

CREATE TABLE "broker_queue" (
	"id" bigint PRIMARY KEY NOT NULL,
	"topic" text NOT NULL,
	"key" text,
	"headers" jsonb,
	"value" "bytea" NOT NULL,
	"published_at" timestamp with time zone DEFAULT now() NOT NULL,
	"attempt" smallint DEFAULT 0 NOT NULL
);

-- Compressing is the publisher's choice: pglz costs more here than the bytes it saves.
ALTER TABLE "broker_queue" ALTER COLUMN "value" SET STORAGE EXTERNAL;
ALTER TABLE "broker_dead_letters" ALTER COLUMN "value" SET STORAGE EXTERNAL;

-- Rows come and go: the share of a table that is nearly empty says nothing about its dead rows.
ALTER TABLE "broker_queue" SET (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000);

-- Leases are renewed in place, without touching an index.
ALTER TABLE "broker_lanes" SET (fillfactor = 20);
ALTER TABLE "broker_members" SET (fillfactor = 20);

-- 100 pages that stay: a plan made while nothing waits, and kept, must not take the table for a tiny one.
INSERT INTO "broker_queue" (id, topic, key, value)
SELECT -place, '', repeat('x', 1900), '' FROM generate_series(1, 400) place;

-- Nobody publishes to the log between its reading and its end.
LOCK TABLE "broker_log", "broker_positions" IN ACCESS EXCLUSIVE MODE;

INSERT INTO "broker_lanes" (topic, partition)
SELECT topic, partition
FROM (
	SELECT unnest(ARRAY['spi.inbound.primary', 'spi.inbound.secondary', 'spi.outbound', 'webhook.events', 'outbox']) AS topic
	UNION SELECT topic FROM "broker_log" WHERE topic <> 'dlq'
) topics CROSS JOIN generate_series(0, 7) partition
ORDER BY topic, partition;

-- What no group has settled, in its order. A position that came with a dump counts transactions of another server:
-- what was published after the position was written last was not delivered, whatever its transaction id says.
INSERT INTO "broker_queue" (id, topic, key, headers, value, published_at)
SELECT (lane::bigint << 44) | nextval('broker_queue_order'), topic, key, headers, value, published_at
FROM (
	SELECT lanes.lane, log.topic, log.key, log.headers, log.value, log.published_at
	FROM "broker_log" log JOIN "broker_lanes" lanes ON lanes.topic = log.topic AND lanes.partition = log.partition
	WHERE NOT EXISTS (
		SELECT FROM "broker_positions" at
		WHERE at.topic = log.topic AND at.partition = log.partition
			AND (log.xid, log.id) <= (at.xid, at.id) AND log.published_at <= at.settled_at
	)
	ORDER BY log.topic, log.partition, log.xid, log.id
) waiting;

INSERT INTO "broker_dead_letters" (key, headers, value, published_at)
SELECT key, headers, value, published_at
FROM (SELECT * FROM "broker_log" WHERE topic = 'dlq' ORDER BY published_at, xid, id) letters;

DROP TABLE "broker_log";
DROP TABLE "broker_positions";

CREATE INDEX "broker_dead_letters_age" ON "broker_dead_letters" USING btree ("published_at");