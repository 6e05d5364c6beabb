-- expand
ALTER TABLE "drex_lanes" ADD COLUMN "doubt" text;