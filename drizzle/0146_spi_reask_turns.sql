-- expand
CREATE INDEX "spi_messages_reask" ON "spi_messages" USING btree ("reask_after","id") WHERE status = 'UNKNOWN';