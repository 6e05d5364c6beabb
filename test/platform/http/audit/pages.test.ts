/** What the statements of the audit chain read, however many links it has. */
import type { Client } from '#src/platform/database/index.ts'
import { sealLate } from '../../../../src/platform/http/audit/chain/seal.ts'
import { verifyPage } from '../../../../src/platform/http/audit/chain/verify.ts'
import { quietLogger as logger } from '../../../support/database.ts'
import { holdPageBudgets, isLong } from '../../../support/page-budgets.ts'

const stored = isLong ? 1_000_000 : 60_000
/** Links of a page. */
const listed = 20
const pagesMax = 20 * listed

const everyMs = 60_000
const firstMs = Date.parse('2025-01-01T00:00:00Z')
const dropped = stored / 10

type Made = { readonly links: number }

const work = async (sql: Client, { links }: Made): Promise<void> => {
  const nowMs = firstMs + links * everyMs
  await sealLate({ sql, logger })
  if (links > 0) {
    for (const after of [dropped + 1, links / 2, links - listed].map(BigInt)) {
      await verifyPage(sql, { after, linksMax: listed, retentionDays: 1 }, nowMs)
    }
  }
}

/** An entry and a link a minute, each fiftieth of them late, the first tenth without its entries. */
const store = async (sql: Client): Promise<Made> => {
  await sql`
    insert into audit_log (id, actor, action, object, outcome)
    select bound(n - 1, n), 'key', 'spi.send', 'thing', 'queued' from generate_series(1, ${stored}::int) n`
  await sql`
    insert into audit_links (seq, from_id, to_id, is_late, ids, hashes, hash)
    select n, bound(case when n % 50 = 0 then greatest(n - 60, 0) else n - 1 - (n % 50 = 1 and n > 1)::int end, 0), bound(n, 0), n % 50 = 0,
      case when n > ${dropped} then array[bound(n - 1, n)] end, decode(repeat('00', 32), 'hex'), decode(repeat('00', 32), 'hex')
    from generate_series(1, ${stored}::int) n`
  return { links: stored }
}

holdPageBudgets<Made>({
  prepare: async (sql) => {
    await sql.unsafe(`
      create function bound(n integer, entry integer) returns uuid language sql as $$
        select (lpad(to_hex(${firstMs} + n::bigint * ${everyMs}), 12, '0') || '70008000'
          || lpad(to_hex(entry), 12, '0'))::uuid $$`)
  },
  absent: { links: 0 },
  store,
  work,
  isTooDear: ({ text, pagesPerCall }) => text.includes('audit_') && pagesPerCall > pagesMax,
})
