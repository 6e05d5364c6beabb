CREATE TABLE "drex_tokens" (
	"network" text NOT NULL,
	"address" text NOT NULL,
	"decimals" smallint NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "drex_tokens_network_address_pk" PRIMARY KEY("network","address")
);

-- Every transfer so far was counted in cents. Units of 18 decimals do not fit a bigint.
ALTER TABLE "drex_transfers" RENAME COLUMN "amount_cents" TO "amount";
ALTER TABLE "drex_transfers"
  ALTER COLUMN "amount" SET DATA TYPE numeric(78, 0),
  ADD COLUMN "decimals" smallint DEFAULT 2 NOT NULL;
