-- expand
CREATE INDEX "spi_messages_requeue" ON "spi_messages" USING btree ("requeue_after","id") WHERE status = 'QUEUED' and waits_for is null;
CREATE INDEX "spi_messages_line" ON "spi_messages" USING btree ("waits_for","id") WHERE status = 'QUEUED' and waits_for is not null;