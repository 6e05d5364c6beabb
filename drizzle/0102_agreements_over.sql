-- expand
CREATE INDEX "drex_agreements_over" ON "drex_agreements" USING btree ("network",coalesce(expiry, 0)) WHERE until_block is null and (kind = 'delivery' and status in ('settled', 'cancelled', 'failed', 'mismatched')
          or kind = 'lien' and status in ('released', 'reclaimed', 'failed'));