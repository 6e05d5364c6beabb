-- expand
ALTER TABLE "spi_recurrences" ADD COLUMN "is_partial" boolean DEFAULT false NOT NULL;