-- expand
ALTER TABLE "webhook_endpoints" ADD COLUMN "topic" text;
CREATE UNIQUE INDEX "webhook_endpoints_topic" ON "webhook_endpoints" USING btree ("topic") WHERE topic is not null;
CREATE INDEX "webhook_endpoints_topics_listed" ON "webhook_endpoints" USING btree ("account","created_at","topic") WHERE topic is not null;