/** What judging a limit of 24 hours reads of a wallet that has long paid, on every engine at hand. */

import { idBound } from '../../src/drex/ids.ts'
import { spentSince } from '../../src/drex/wallets/store.ts'
import { holdPageBudgets, isLong } from '../support/page-budgets.ts'

const stored = isLong ? 1_000_000 : 20_000
const ofToday = 10
const pagesMax = 150
const wallet = `0x${'a1'.repeat(20)}` as const
const dayMs = 86_400_000

holdPageBudgets<typeof wallet>({
  absent: wallet,
  store: async (sql) => {
    const parts = [
      { count: stored, at: new Date(Date.now() - 10 * dayMs) },
      { count: ofToday, at: new Date() },
    ]
    for (const { count, at } of parts) {
      const time = idBound(at).slice(4, 16)
      await sql`
        insert into drex_transactions (id, network, sender, kind, subject, status, recipient, data,
          created_by, created_at, expires_at)
        select 'dtx_' || ${time}::text || lpad(n::text, 20, '0'), 'drex_testnet', ${wallet}, 'transfer',
          'trf_' || ${time}::text || lpad(n::text, 20, '0'), 'confirmed', ${wallet}, '0x', 'key_1', ${at}, ${at}
        from generate_series(1, ${count}::int) n`
      await sql`
        insert into drex_transfers (id, transaction_id, network, token, from_wallet, to_wallet, amount,
          metadata, created_by, created_at)
        select subject, id, network, recipient, sender, sender, 100, '{}', created_by, created_at
        from drex_transactions where created_at = ${at}`
    }
    return wallet
  },
  work: async (sql, address) => {
    await sql.begin((tx) => spentSince(tx, address, 24))
  },
  isTooDear: ({ pagesPerCall }) => pagesPerCall > pagesMax,
  isAnalyzed: true,
})
