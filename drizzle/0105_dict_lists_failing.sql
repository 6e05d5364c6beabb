-- expand
ALTER TABLE "dict_lists" ADD COLUMN "failing" text;