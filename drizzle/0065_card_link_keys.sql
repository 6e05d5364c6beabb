-- expand
CREATE TABLE "card_link_keys" (
	"id" bigserial PRIMARY KEY NOT NULL,
	"network" text NOT NULL,
	"use" text NOT NULL,
	"sealed" "bytea" NOT NULL,
	"origin" text NOT NULL,
	"offered_at" timestamp with time zone DEFAULT now() NOT NULL,
	"used_since" timestamp with time zone
);

CREATE INDEX "card_link_keys_network" ON "card_link_keys" USING btree ("network","id");