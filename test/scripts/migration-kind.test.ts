import { describe, expect, test } from 'bun:test'
import { isExpanding, isMixed } from '../../scripts/migration-kind.ts'

describe('a migration after which old versions go on', () => {
  test.each([
    'CREATE TABLE "a" ("id" text PRIMARY KEY NOT NULL);\nCREATE UNIQUE INDEX "i" ON "a" ("id");',
    'ALTER TABLE "a" ADD COLUMN "b" text;',
    'ALTER TABLE "a" ADD COLUMN "b" text DEFAULT \'x\' NOT NULL;',
    'CREATE INDEX "i" ON "a" ("b");',
    '-- DROP is only a word here\nALTER TABLE "a" ADD COLUMN "b" text;',
  ])('%s', (sql) => {
    expect(isExpanding(sql)).toBe(true)
  })
})

describe('a migration that they cannot run on', () => {
  test.each([
    'DROP TABLE "a";',
    'ALTER TABLE "a" DROP COLUMN "b";',
    'ALTER TABLE "a" RENAME COLUMN "b" TO "c";',
    'ALTER TABLE "a" ADD COLUMN "b" text NOT NULL;',
    'ALTER TABLE "a" ADD COLUMN "b" text,\n  ADD COLUMN "c" text NOT NULL;',
    'ALTER TABLE "a" ALTER COLUMN "b" SET NOT NULL;',
    'CREATE UNIQUE INDEX "i" ON "a" ("b");',
    'DROP INDEX "i";',
    'UPDATE "a" SET "b" = 1;',
    'CREATE TABLE "a" ("id" text);\nDROP TABLE "b";',
  ])('%s', (sql) => {
    expect(isExpanding(sql)).toBe(false)
  })
})

describe('an index of a table that is there stands by itself', () => {
  test.each([
    [true, 'ALTER TABLE "a" ADD COLUMN "b" text;\nCREATE INDEX "i" ON "a" USING btree ("b");'],
    [true, 'CREATE TABLE "c" ("id" text);\nCREATE INDEX "i" ON "a" USING btree ("b");'],
    [false, '-- expand\nCREATE INDEX "i" ON "a" ("b");\nCREATE UNIQUE INDEX "j" ON "d" ("b");'],
    [false, 'CREATE TABLE "c" ("id" text);\nCREATE INDEX "i" ON "c" USING btree ("id");'],
    [false, 'ALTER TABLE "a" ADD COLUMN "b" text;'],
  ])('%p: %s', (mixed, sql) => {
    expect(isMixed(sql)).toBe(mixed)
  })
})
