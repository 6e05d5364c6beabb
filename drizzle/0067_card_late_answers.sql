-- expand
CREATE INDEX "card_events_late" ON "card_events" USING btree ("id") WHERE type = 'late_answer';