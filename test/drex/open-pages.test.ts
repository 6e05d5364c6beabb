/** What lists read where more transfers wait than there are in them. */
import { trackedOfWallet } from '../../src/drex/contracts/store.ts'
import { countHeld, listHeld } from '../../src/drex/engine/held-store.ts'
import { listTransfers } from '../../src/drex/transfers/store.ts'
import { anyTransfer, listed } from '../support/list-filters.ts'
import { holdPageBudgets, isLong } from '../support/page-budgets.ts'

const stored = isLong ? 1_000_000 : 25_000
/** Each row of a page is looked up with its transfer and its last step; what waits beyond the page is not read. */
const pagesMax = 12 * listed
const start = Date.parse('2026-01-01T00:00:00Z')
const everyMs = 20_000
const idOf = `lpad(to_hex(${start} + n::bigint * ${everyMs}), 12, '0') || '70008000' || lpad(to_hex(n), 12, '0')`
const at = (part: number): Date => new Date(start + part * stored * everyMs)

holdPageBudgets<undefined>({
  absent: undefined,
  isAnalyzed: true,
  store: async (sql) => {
    await sql.unsafe(`
      set local statement_timeout = 0;
      insert into drex_transactions (id, network, sender, kind, subject, status, data, created_by, expires_at)
      select 'txn_' || ${idOf}, 'drex_testnet', 's', 'transfer', 'trf_' || ${idOf}, 'pending', '0x', 'k', now()
      from generate_series(1, ${stored}) n;
      insert into drex_transfers (id, transaction_id, network, token, from_wallet, to_wallet, amount, metadata,
        account, created_by, approval)
      select 'trf_' || ${idOf}, 'txn_' || ${idOf}, 'drex_testnet', '0x', '0xa', '0xb', 1, '{}', 'a', 'k',
        case when n % 3 = 0 then 'lapsed' when n % 1000 = 0 then 'required' end
      from generate_series(1, ${stored}) n order by md5(n::text);`)
    return undefined
  },
  work: async (sql) => {
    const seen = { account: 'a', networks: ['drex_testnet'] } as const
    const ofTime = { ...anyTransfer, status: 'pending' } as const
    await listTransfers(sql, ofTime, seen)
    for (const account of ['a', 'nobody']) {
      await listTransfers(sql, { ...anyTransfer, approval: 'required' }, { ...seen, account })
    }
    await listHeld(sql, { afterId: undefined, limit: listed })
    await countHeld(sql)
    await trackedOfWallet(sql, { address: '0xb', account: 'a', type: 'managed' }, undefined, listed)
    // All that it received came from another account; stored in no order, so that each row read is a page.
    await trackedOfWallet(
      sql,
      { address: '0xb', account: 'nobody', type: 'managed' },
      undefined,
      listed,
    )
    for (const wallet of ['0xa', '0xb'] as const)
      await listTransfers(sql, { ...anyTransfer, wallet }, { ...seen, account: 'nobody' })
    await listTransfers(sql, { ...ofTime, to: at(0.1) }, seen)
    // Fewer than a page holds: the walk ends where the time begins.
    const from = at(0.9)
    await listTransfers(sql, { ...ofTime, from, to: new Date(from.getTime() + 5 * everyMs) }, seen)
  },
  isTooDear: ({ pagesPerCall }) => pagesPerCall > pagesMax,
})
