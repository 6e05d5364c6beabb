-- expand
CREATE INDEX "spi_messages_sent_late" ON "spi_messages" USING btree ("status","sent_at") WHERE sent_at is not null and status in ('SENT', 'UNKNOWN');