-- expand
ALTER TABLE "spi_messages" ADD COLUMN "reasks" integer;
ALTER TABLE "spi_messages" ADD COLUMN "reask_after" timestamp with time zone;