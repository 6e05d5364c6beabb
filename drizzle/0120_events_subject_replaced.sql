-- expand
DROP INDEX "webhook_events_subject";