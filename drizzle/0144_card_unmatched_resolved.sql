-- expand
CREATE INDEX "card_unmatched_advices_resolved" ON "card_unmatched_advices" USING btree ("resolved_at","id");