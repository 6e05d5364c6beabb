-- expand
CREATE INDEX "webhook_endpoints_taking" ON "webhook_endpoints" USING gin ("events") WITH (fastupdate=false) WHERE case when active then events end = events;