-- expand
ALTER TABLE "pix_tokens" ADD COLUMN "secret_hash" text;