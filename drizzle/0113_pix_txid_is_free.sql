-- expand
-- What the statement that makes charges has read before it waits for a lock is old: a function reads anew afterwards.
CREATE FUNCTION "pix_txid_is_free" ("lock" bigint, "owner" text, "wanted" text) RETURNS boolean LANGUAGE plpgsql VOLATILE AS $$
BEGIN
  PERFORM pg_advisory_xact_lock_shared("lock");
  RETURN (
    SELECT c.txid FROM pix_collections c
    WHERE c.account = "owner" AND c.txid BETWEEN "wanted" AND "wanted" ORDER BY c.txid LIMIT 1
  ) IS NULL;
END
$$;
