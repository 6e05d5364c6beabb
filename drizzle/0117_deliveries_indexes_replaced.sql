-- expand
DROP INDEX "webhook_deliveries_listed";
DROP INDEX "webhook_deliveries_exhausted";