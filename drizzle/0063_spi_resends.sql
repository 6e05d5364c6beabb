-- expand
-- expand
CREATE TABLE "spi_resends" (
	"message_id" uuid PRIMARY KEY NOT NULL,
	"asked_at" timestamp with time zone NOT NULL
);
