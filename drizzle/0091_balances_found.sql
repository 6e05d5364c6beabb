-- expand
CREATE INDEX "spi_reports_balances" ON "spi_reports" USING btree ("id") WHERE balances is not null;