-- expand
ALTER TABLE "broker_lanes" ADD COLUMN "low" bigint DEFAULT 0 NOT NULL;