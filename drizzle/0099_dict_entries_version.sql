-- expand
ALTER TABLE "dict_entries" ADD COLUMN "version" integer DEFAULT 0 NOT NULL;