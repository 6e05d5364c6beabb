-- expand
ALTER TABLE "dict_disputes" ADD COLUMN "told_at" timestamp with time zone;