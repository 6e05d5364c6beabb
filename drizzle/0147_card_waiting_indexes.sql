-- expand
CREATE INDEX "card_reversals_by_age" ON "card_reversals" USING btree ("created_at") WHERE status = 'pending' and expiry_hours is null;
CREATE INDEX "card_reversals_by_expiry" ON "card_reversals" USING btree (((created_at at time zone 'UTC') + make_interval(hours => expiry_hours))) WHERE status = 'pending' and expiry_hours is not null;
CREATE INDEX "card_reversals_by_attempts" ON "card_reversals" USING btree ("attempts") WHERE status = 'pending' and first_attempt_at is not null;
CREATE INDEX "card_transactions_under_way" ON "card_transactions" USING btree ((case when operation like 'reversing%' or operation like 'advising%' then 1 else 0 end),"touched_at") WHERE status = 'pending' or operation is not null;