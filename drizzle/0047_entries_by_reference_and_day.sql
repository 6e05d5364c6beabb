-- expand
CREATE INDEX "spi_entries_reference" ON "spi_entries" USING btree ("reference","message_id","position");
CREATE INDEX "spi_entries_booked" ON "spi_entries" USING btree ("booked_on","message_id","position");