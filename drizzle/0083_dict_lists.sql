-- expand
CREATE INDEX "dict_comparisons_ended" ON "dict_comparisons" USING btree ("ended_at");
CREATE INDEX "dict_disputes_of_role_status" ON "dict_disputes" USING btree ("kind","role","status","created_at","id");
CREATE INDEX "dict_claims_of_role_status" ON "dict_claims" USING btree ("role","status","created_at","id");