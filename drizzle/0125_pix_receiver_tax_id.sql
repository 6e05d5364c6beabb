-- expand
ALTER TABLE "pix_received" ADD COLUMN "receiver_tax_id" text;