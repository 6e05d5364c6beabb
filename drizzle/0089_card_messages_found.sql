-- expand
CREATE INDEX "card_reversals_message" ON "card_reversals" USING btree ("network","stan","transmission") WHERE stan is not null;
CREATE INDEX "card_events_sent" ON "card_events" USING btree ((data ->> 'stan'),(data ->> 'transmission')) WHERE right(type, 5) = '_sent';