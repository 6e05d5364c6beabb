CREATE TABLE "audit_log" (
	"id" uuid PRIMARY KEY NOT NULL,
	"actor" text NOT NULL,
	"action" text NOT NULL,
	"object" text NOT NULL,
	"outcome" text NOT NULL,
	"request_id" text
) PARTITION BY RANGE ("id");

CREATE TABLE "audit_log_default" PARTITION OF "audit_log" DEFAULT;

CREATE INDEX "audit_log_actor" ON "audit_log" USING btree ("actor","id");
CREATE INDEX "audit_log_action" ON "audit_log" USING btree ("action","id");
CREATE INDEX "audit_log_object" ON "audit_log" USING btree ("object","id");