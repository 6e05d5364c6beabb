-- expand
ALTER TABLE "pix_collections" ADD COLUMN "agreement" text;
