-- expand
CREATE TABLE "drex_holdings" (
	"network" text NOT NULL,
	"token" text NOT NULL,
	"wallet" text NOT NULL,
	"total" numeric(78, 0) NOT NULL,
	"opening" numeric(78, 0),
	"since_block" bigint NOT NULL,
	"moved_block" bigint NOT NULL,
	"checked_block" bigint,
	"difference" numeric(78, 0) DEFAULT '0' NOT NULL,
	CONSTRAINT "drex_holdings_network_token_wallet_pk" PRIMARY KEY("network","token","wallet")
);

CREATE TABLE "drex_movements" (
	"id" text PRIMARY KEY NOT NULL,
	"network" text NOT NULL,
	"token" text NOT NULL,
	"wallet" text NOT NULL,
	"side" text NOT NULL,
	"counterparty" text NOT NULL,
	"amount" numeric(78, 0) NOT NULL,
	"total" numeric(78, 0) NOT NULL,
	"block_number" bigint NOT NULL,
	"block_hash" text NOT NULL,
	"log_index" integer NOT NULL,
	"hash" text NOT NULL,
	"booked_at" timestamp with time zone NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"removed_at" timestamp with time zone
);

CREATE TABLE "drex_positions" (
	"network" text PRIMARY KEY NOT NULL,
	"block_number" bigint NOT NULL,
	"block_hash" text,
	"anchors" jsonb DEFAULT '[]'::jsonb NOT NULL,
	"history_until" bigint NOT NULL,
	"updated_at" timestamp with time zone DEFAULT now() NOT NULL
);

CREATE INDEX "drex_holdings_unchecked" ON "drex_holdings" USING btree ("network","moved_block") WHERE checked_block is null or checked_block < moved_block;
CREATE INDEX "drex_holdings_differing" ON "drex_holdings" USING btree ("network") WHERE difference <> 0;
CREATE UNIQUE INDEX "drex_movements_statement" ON "drex_movements" USING btree ("network","token","wallet","booked_at","block_number","log_index","side") WHERE removed_at is null;
CREATE INDEX "drex_movements_block" ON "drex_movements" USING btree ("network","block_number") WHERE removed_at is null;
CREATE INDEX "drex_movements_booked" ON "drex_movements" USING btree ("booked_at");