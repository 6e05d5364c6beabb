-- expand
CREATE INDEX "spi_reports_declared" ON "spi_reports" USING btree ("day","id") WHERE declared_entries is not null;