-- expand
-- The answer of a key is written where the key is, several times as long: no index has it.
ALTER TABLE "idempotency_keys" SET (fillfactor = 20);
