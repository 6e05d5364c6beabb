CREATE TABLE "spi_sendings" (
	"message_id" uuid PRIMARY KEY NOT NULL,
	"xml" "bytea" NOT NULL
) PARTITION BY RANGE ("message_id");

CREATE TABLE "spi_sendings_default" PARTITION OF "spi_sendings" DEFAULT;


ALTER TABLE "spi_sendings" ALTER COLUMN "xml" SET STORAGE EXTERNAL;
ALTER TABLE "spi_sendings_default" ALTER COLUMN "xml" SET STORAGE EXTERNAL;
