-- expand
CREATE TABLE "pix_batch_items" (
	"account" text NOT NULL,
	"txid" text NOT NULL,
	"batch_id" bigint NOT NULL,
	"position" integer NOT NULL,
	"status" text NOT NULL,
	"problem" text,
	"created_at" timestamp with time zone,
	CONSTRAINT "pix_batch_items_account_txid_pk" PRIMARY KEY("account","txid")
);

CREATE TABLE "pix_batches" (
	"account" text NOT NULL,
	"id" bigint NOT NULL,
	"description" text NOT NULL,
	"created_at" timestamp with time zone NOT NULL,
	CONSTRAINT "pix_batches_account_id_pk" PRIMARY KEY("account","id")
);

CREATE INDEX "pix_batch_items_of_batch" ON "pix_batch_items" USING btree ("account","batch_id","position");
CREATE INDEX "pix_batches_listed" ON "pix_batches" USING btree ("account","created_at","id");