-- expand
CREATE INDEX "dict_disputes_needing" ON "dict_disputes" USING btree ("kind","created_at","id") WHERE wanted is null and role = 'asked' and status in ('open', 'acknowledged');