-- expand
CREATE INDEX "webhook_events_subject" ON "webhook_events" USING btree ("subject");