-- expand
CREATE TABLE "drex_low_balances" (
	"wallet_id" text NOT NULL,
	"network" text NOT NULL,
	"asset" text NOT NULL,
	"told_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "drex_low_balances_wallet_id_network_asset_pk" PRIMARY KEY("wallet_id","network","asset")
);

ALTER TABLE "drex_wallets" ADD COLUMN "alerts" jsonb DEFAULT '{}'::jsonb NOT NULL;
CREATE INDEX "drex_wallets_watched" ON "drex_wallets" USING btree ("id") WHERE alerts <> '{}';