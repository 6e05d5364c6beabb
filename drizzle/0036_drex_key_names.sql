-- expand
ALTER TABLE "drex_wallets" ADD COLUMN "key_name" text;