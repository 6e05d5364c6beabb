-- expand
ALTER TABLE "pix_receivers" ADD COLUMN "account_number" text;
ALTER TABLE "pix_receivers" ADD COLUMN "branch" text;
ALTER TABLE "pix_receivers" ADD COLUMN "account_type" text;