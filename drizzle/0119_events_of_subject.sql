-- expand
CREATE INDEX "webhook_events_of_subject" ON "webhook_events" USING btree ("subject","id");