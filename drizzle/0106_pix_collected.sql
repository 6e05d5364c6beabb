-- expand
-- Which of these txids charges of recurrences have. Each query of such a function sees what was committed before it, and
-- not before the statement that calls it: whoever inserts a charge of a recurrence holds the lock of its account until
-- it is committed.
CREATE FUNCTION "pix_collected"("accounts" text[], "txids" text[])
RETURNS TABLE ("account" text, "txid" text) LANGUAGE plpgsql VOLATILE ROWS 1 AS $$
#variable_conflict use_column
BEGIN
  PERFORM pg_advisory_xact_lock_shared(lock)
  FROM (
    SELECT DISTINCT hashtextextended('pix txids:' || owner, 0) AS lock FROM unnest(accounts) AS owner
    ORDER BY lock
  ) AS locks;
  RETURN QUERY
  SELECT wanted.account, wanted.txid FROM unnest(accounts, txids) AS wanted(account, txid)
  WHERE (
    SELECT other.txid FROM pix_collections other
    WHERE other.account = wanted.account AND other.txid BETWEEN wanted.txid AND wanted.txid
    ORDER BY other.txid LIMIT 1
  ) IS NOT NULL;
END $$;
