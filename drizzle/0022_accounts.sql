-- Idempotency keys belong to accounts, and are stored as base64url(HMAC-SHA256(account, key)). Every API key made so far
-- is of the account "default", so that every key stored so far becomes one of "default": a repetition over the upgrade
-- is recognised, whichever of the API keys it comes with. The two constants are HMAC's inner and outer block of
-- "default". Fingerprints stay those of the bodies' bytes; the gateway compares with both.
ALTER TABLE "api_keys" ADD COLUMN "account" text DEFAULT 'default' NOT NULL;

-- Two API keys may have used one Idempotency-Key. The row with an answer stays, of several the oldest: a repetition of
-- the other request is refused or gets this answer, and is never carried out again.
DELETE FROM "idempotency_keys" a USING "idempotency_keys" b
WHERE a."key" = b."key"
  AND (a."status" IS NULL, a."created_at", a."owner") > (b."status" IS NULL, b."created_at", b."owner");

-- What is under way answers its key later.
UPDATE "card_transactions" t SET "claim_key" = (
  SELECT translate(encode(sha256(
    decode('38393a3d2930285c5c5c5c5c5c5c5c5c5c5c5c5c5c5c5c5c5c5c5c5c5c5c5c5c5c5c5c5c5c5c5c5c5c5c5c5c5c5c5c5c5c5c5c5c5c5c5c5c5c5c5c5c5c5c5c5c', 'hex')
    || sha256(
      decode('52535057435a42363636363636363636363636363636363636363636363636363636363636363636363636363636363636363636363636363636363636363636', 'hex')
      || convert_to(k."key", 'UTF8'))), 'base64'), '+/=', '-_')
  FROM "idempotency_keys" k WHERE k."owner" = t."claim_owner" AND k."key" = t."claim_key"
)
WHERE "claim_key" IS NOT NULL AND ("status" = 'pending' OR "operation" IS NOT NULL);
ALTER TABLE "card_transactions" DROP COLUMN "claim_owner";

-- One rewrite of the table.
ALTER TABLE "idempotency_keys"
  DROP CONSTRAINT "idempotency_keys_owner_key_pk",
  DROP COLUMN "owner",
  DROP COLUMN "content_type",
  ALTER COLUMN "fingerprint" SET DATA TYPE text USING translate(encode("fingerprint", 'base64'), '+/=', '-_'),
  ALTER COLUMN "key" SET DATA TYPE text USING translate(encode(sha256(
    decode('38393a3d2930285c5c5c5c5c5c5c5c5c5c5c5c5c5c5c5c5c5c5c5c5c5c5c5c5c5c5c5c5c5c5c5c5c5c5c5c5c5c5c5c5c5c5c5c5c5c5c5c5c5c5c5c5c5c5c5c5c', 'hex')
    || sha256(
      decode('52535057435a42363636363636363636363636363636363636363636363636363636363636363636363636363636363636363636363636363636363636363636', 'hex')
      || convert_to("key", 'UTF8'))), 'base64'), '+/=', '-_'),
  ADD PRIMARY KEY ("key");
