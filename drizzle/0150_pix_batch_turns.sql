-- expand
ALTER TABLE "pix_batches" ADD COLUMN "turn" uuid;