-- expand
CREATE TABLE "dict_comparisons" (
	"id" uuid PRIMARY KEY NOT NULL,
	"key_type" text NOT NULL,
	"method" text NOT NULL,
	"since" timestamp with time zone,
	"status" text NOT NULL,
	"file_id" bigint,
	"entries" integer,
	"only_ours" integer,
	"only_theirs" integer,
	"is_complete" boolean,
	"failure" text,
	"created_at" timestamp with time zone NOT NULL,
	"ended_at" timestamp with time zone
);

CREATE TABLE "dict_differences" (
	"comparison_id" uuid NOT NULL,
	"key" text NOT NULL,
	"entry_id" uuid,
	"theirs" text,
	"kept" text,
	CONSTRAINT "dict_differences_comparison_id_key_pk" PRIMARY KEY("comparison_id","key")
);

CREATE UNIQUE INDEX "dict_comparisons_running" ON "dict_comparisons" USING btree ("key_type") WHERE status = 'running';