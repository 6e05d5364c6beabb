-- expand
ALTER TABLE "drex_wallets" ADD COLUMN "environment" text;