ALTER TABLE "spi_sendings" ADD COLUMN "position" integer;
ALTER TABLE "spi_sendings" ADD COLUMN "checksum" integer;