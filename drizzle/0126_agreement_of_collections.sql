-- expand
ALTER TABLE "pix_collections" ADD COLUMN "agreement" text;
-- What was charged before.
UPDATE "pix_collections" c SET "agreement" = r."agreement" FROM "pix_recurrences" r
WHERE r."id" = c."recurrence_id" AND r."agreement" IS NOT NULL;
