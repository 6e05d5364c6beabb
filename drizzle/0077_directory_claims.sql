-- expand
CREATE TABLE "dict_claim_lists" (
	"role" text PRIMARY KEY NOT NULL,
	"read_up_to" timestamp with time zone NOT NULL
);

CREATE TABLE "dict_claims" (
	"id" uuid PRIMARY KEY NOT NULL,
	"claim_id" uuid,
	"created_by" text,
	"role" text NOT NULL,
	"type" text NOT NULL,
	"key_type" text NOT NULL,
	"key" text NOT NULL,
	"counterparty" text,
	"status" text NOT NULL,
	"content" text,
	"wanted" text,
	"refusal" text,
	"resolution_ends_at" timestamp with time zone,
	"completion_ends_at" timestamp with time zone,
	"confirm_reason" text,
	"cancel_reason" text,
	"cancelled_by" text,
	"modified_at" timestamp with time zone,
	"told_at" timestamp with time zone,
	"version" integer NOT NULL,
	"due_at" timestamp with time zone,
	"created_at" timestamp with time zone NOT NULL
);

CREATE UNIQUE INDEX "dict_claims_known" ON "dict_claims" USING btree ("claim_id","role") WHERE claim_id is not null;
CREATE UNIQUE INDEX "dict_claims_going" ON "dict_claims" USING btree ("key") WHERE role = 'claimer' and status not in ('cancelled', 'completed', 'refused');
CREATE INDEX "dict_claims_listed" ON "dict_claims" USING btree ("created_at","id");
CREATE INDEX "dict_claims_of_key" ON "dict_claims" USING btree ("key","created_at","id");
CREATE INDEX "dict_claims_of_status" ON "dict_claims" USING btree ("status","created_at","id");
CREATE INDEX "dict_claims_waiting" ON "dict_claims" USING btree ("created_at","id") WHERE wanted is null and (role = 'donor' and status = 'waiting_resolution' or role = 'claimer' and status = 'confirmed' and type = 'OWNERSHIP');
CREATE INDEX "dict_claims_due" ON "dict_claims" USING btree ("due_at") WHERE due_at is not null;