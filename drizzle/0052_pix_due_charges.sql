-- expand
ALTER TABLE "pix_charges" ADD COLUMN "kind" text DEFAULT 'cob' NOT NULL;
ALTER TABLE "pix_received" ADD COLUMN "components" text;
ALTER TABLE "pix_receivers" ADD COLUMN "street" text;
ALTER TABLE "pix_receivers" ADD COLUMN "state" text;
ALTER TABLE "pix_receivers" ADD COLUMN "postal_code" text;
CREATE INDEX "pix_cobv_listed" ON "pix_charges" USING btree ("account","created_at","id") WHERE kind = 'cobv';
CREATE INDEX "pix_cobv_by_status" ON "pix_charges" USING btree ("account","status","created_at","id") WHERE kind = 'cobv';
CREATE INDEX "pix_cobv_by_debtor" ON "pix_charges" USING btree ("account","debtor_tax_id","created_at","id") WHERE kind = 'cobv';