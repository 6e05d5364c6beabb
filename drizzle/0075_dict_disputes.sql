-- expand
CREATE TABLE "dict_disputes" (
	"id" uuid PRIMARY KEY NOT NULL,
	"kind" text NOT NULL,
	"directory_id" uuid,
	"role" text NOT NULL,
	"status" text NOT NULL,
	"transaction_id" text NOT NULL,
	"reason" text NOT NULL,
	"other" text,
	"content" text NOT NULL,
	"wanted" text,
	"refusal" text,
	"return_id" text,
	"returned_at" timestamp with time zone,
	"created_by" text,
	"created_at" timestamp with time zone NOT NULL,
	"modified_at" timestamp with time zone,
	"tried_at" timestamp with time zone NOT NULL
);

CREATE TABLE "dict_lists" (
	"list" text PRIMARY KEY NOT NULL,
	"read_until" timestamp with time zone NOT NULL
);

CREATE UNIQUE INDEX "dict_disputes_directory_id" ON "dict_disputes" USING btree ("kind","directory_id") WHERE directory_id is not null;
CREATE UNIQUE INDEX "dict_disputes_asked" ON "dict_disputes" USING btree ("kind","transaction_id","reason") WHERE role = 'asking' and status in ('requested', 'open', 'acknowledged');
CREATE UNIQUE INDEX "dict_disputes_return" ON "dict_disputes" USING btree ("return_id") WHERE return_id is not null and role = 'asked';
CREATE INDEX "dict_disputes_listed" ON "dict_disputes" USING btree ("kind","created_at","id");
CREATE INDEX "dict_disputes_transaction" ON "dict_disputes" USING btree ("transaction_id","kind");
CREATE INDEX "dict_disputes_waiting" ON "dict_disputes" USING btree ("kind","tried_at") WHERE status = 'requested' or wanted is not null or (role = 'asking' and return_id is not null and returned_at is null);