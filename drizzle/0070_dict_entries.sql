-- expand
CREATE TABLE "dict_entries" (
	"id" uuid PRIMARY KEY NOT NULL,
	"created_by" text NOT NULL,
	"key_type" text NOT NULL,
	"key" text,
	"status" text NOT NULL,
	"content" text NOT NULL,
	"wanted" text,
	"cid" text,
	"refusal" text,
	"owned_since" text,
	"created_at" timestamp with time zone NOT NULL,
	"changed_at" timestamp with time zone NOT NULL
);

CREATE UNIQUE INDEX "dict_entries_key" ON "dict_entries" USING btree ("key") WHERE key is not null and status not in ('removed', 'refused');
CREATE INDEX "dict_entries_listed" ON "dict_entries" USING btree ("created_at","id");
CREATE INDEX "dict_entries_of_key" ON "dict_entries" USING btree ("key","created_at","id");
CREATE INDEX "dict_entries_checked" ON "dict_entries" USING btree ("key_type","id") WHERE cid is not null;
CREATE INDEX "dict_entries_open" ON "dict_entries" USING btree ("changed_at") WHERE status in ('registering', 'changing', 'removing');