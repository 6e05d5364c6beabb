CREATE TABLE "spi_pending_answers" (
	"message_id" uuid NOT NULL,
	"reference" text NOT NULL,
	"outcome" text NOT NULL,
	"reason" text,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "spi_pending_answers_message_id_reference_pk" PRIMARY KEY("message_id","reference")
);

CREATE INDEX "spi_pending_answers_created_at" ON "spi_pending_answers" USING btree ("created_at");