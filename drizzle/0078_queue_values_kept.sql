-- contract
-- Earlier versions would take a compressed value for the message itself: they must not start on this schema.
COMMENT ON COLUMN "broker_queue"."value" IS 'zstd where the header kept-as says so';
