CREATE TABLE "drex_attempts" (
	"network" text NOT NULL,
	"hash" text NOT NULL,
	"transaction_id" text NOT NULL,
	"kind" text NOT NULL,
	"raw" text NOT NULL,
	"max_fee" numeric(78, 0) NOT NULL,
	"tip" numeric(78, 0) NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "drex_attempts_network_hash_pk" PRIMARY KEY("network","hash")
);

CREATE TABLE "drex_contracts" (
	"id" text PRIMARY KEY NOT NULL,
	"network" text NOT NULL,
	"address" text,
	"template" text,
	"label" text NOT NULL,
	"params" jsonb NOT NULL,
	"abi" jsonb NOT NULL,
	"deployer" text,
	"transaction_id" text,
	"permit_transaction_id" text,
	"created_by" text NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL
);

CREATE TABLE "drex_lanes" (
	"network" text NOT NULL,
	"sender" text NOT NULL,
	"next_nonce" bigint NOT NULL,
	CONSTRAINT "drex_lanes_network_sender_pk" PRIMARY KEY("network","sender")
);

CREATE TABLE "drex_network_state" (
	"network" text PRIMARY KEY NOT NULL,
	"genesis_hash" text NOT NULL
);

CREATE TABLE "drex_transactions" (
	"id" text PRIMARY KEY NOT NULL,
	"network" text NOT NULL,
	"sender" text NOT NULL,
	"kind" text NOT NULL,
	"subject" text NOT NULL,
	"status" text NOT NULL,
	"recipient" text,
	"data" text NOT NULL,
	"gas_limit" bigint,
	"after_id" text,
	"nonce" bigint,
	"hash" text,
	"raw" text,
	"max_fee" numeric(78, 0),
	"tip" numeric(78, 0),
	"block_number" bigint,
	"block_hash" text,
	"mined_hash" text,
	"succeeded" boolean,
	"gas_used" bigint,
	"error" jsonb,
	"attempts" integer DEFAULT 0 NOT NULL,
	"created_by" text NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"expires_at" timestamp with time zone NOT NULL,
	"due_at" timestamp with time zone DEFAULT now() NOT NULL,
	"signed_at" timestamp with time zone,
	"broadcast_at" timestamp with time zone,
	"mined_at" timestamp with time zone,
	"settled_at" timestamp with time zone
);

CREATE TABLE "drex_transfers" (
	"id" text PRIMARY KEY NOT NULL,
	"transaction_id" text NOT NULL,
	"network" text NOT NULL,
	"token" text NOT NULL,
	"from_wallet" text NOT NULL,
	"to_wallet" text NOT NULL,
	"amount_cents" bigint NOT NULL,
	"reference" text,
	"metadata" jsonb NOT NULL,
	"created_by" text NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL
);

CREATE TABLE "drex_wallets" (
	"id" text PRIMARY KEY NOT NULL,
	"address" text NOT NULL,
	"type" text NOT NULL,
	"label" text NOT NULL,
	"metadata" jsonb NOT NULL,
	"sealed_key" "bytea",
	"created_by" text NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL
);

CREATE INDEX "drex_attempts_transaction" ON "drex_attempts" USING btree ("transaction_id");
CREATE UNIQUE INDEX "drex_contracts_address" ON "drex_contracts" USING btree ("network","address");
CREATE UNIQUE INDEX "drex_transactions_nonce" ON "drex_transactions" USING btree ("network","sender","nonce");
CREATE UNIQUE INDEX "drex_transactions_hash" ON "drex_transactions" USING btree ("network","hash");
CREATE INDEX "drex_transactions_open" ON "drex_transactions" USING btree ("network","status","id") WHERE status in ('pending', 'signed', 'broadcast', 'mined');
CREATE INDEX "drex_transactions_subject" ON "drex_transactions" USING btree ("subject");
CREATE INDEX "drex_transactions_sender" ON "drex_transactions" USING btree ("sender","id");
CREATE INDEX "drex_transactions_after" ON "drex_transactions" USING btree ("after_id") WHERE after_id is not null;
CREATE INDEX "drex_transfers_from" ON "drex_transfers" USING btree ("from_wallet","id");
CREATE INDEX "drex_transfers_to" ON "drex_transfers" USING btree ("to_wallet","id");
CREATE INDEX "drex_transfers_reference" ON "drex_transfers" USING btree ("reference");
CREATE UNIQUE INDEX "drex_wallets_address" ON "drex_wallets" USING btree ("address");