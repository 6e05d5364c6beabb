-- expand
CREATE TABLE "reference_lists" (
	"name" text PRIMARY KEY NOT NULL,
	"source" text NOT NULL,
	"as_of" date NOT NULL,
	"items" text NOT NULL,
	"stored_at" timestamp with time zone NOT NULL
);
