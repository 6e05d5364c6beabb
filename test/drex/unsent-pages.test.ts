/** What comparing a wallet with the chain reads beside others that wait, and beyond what the chain can tell of. */
import { expect } from 'bun:test'
import { unsentOf, unsentSince } from '../../src/drex/engine/held-store.ts'
import { idSince } from '../../src/drex/ids.ts'
import { holdPageBudgets, isLong } from '../support/page-budgets.ts'

const stored = isLong ? 1_000_000 : 20_000
const early = 10
const pagesMax = 60
const wallet = `0x${'a1'.repeat(20)}` as const
const isWanted = () => true
const hourMs = 3_600_000
const start = new Date('2026-01-01T00:00:00Z')

holdPageBudgets<typeof wallet>({
  absent: wallet,
  store: async (sql) => {
    const parts = [
      { sender: wallet, status: 'confirmed', count: stored, hours: 0 },
      { sender: wallet, status: 'pending', count: early, hours: 1 },
      { sender: `0x${'b2'.repeat(20)}`, status: 'pending', count: stored, hours: 2 },
      { sender: wallet, status: 'pending', count: stored, hours: 10 },
    ]
    for (const { sender, status, count, hours } of parts) {
      const at = new Date(start.getTime() + hours * hourMs)
      const time = idSince('dtx', at).slice(4, 16)
      await sql`
        insert into drex_transactions (id, network, sender, kind, subject, status, recipient, data,
          created_by, created_at, expires_at)
        select 'dtx_' || ${time}::text || lpad(n::text, 20, '0'), 'drex_testnet', ${sender}, 'transfer',
          'trf_' || ${time}::text || lpad(n::text, 20, '0'), ${status}, ${sender}, '0x', 'key_1', ${at}, ${at}
        from generate_series(1, ${count}::int) n`
    }
    const all = await unsentOf(sql, 'drex_testnet', wallet, { until: undefined, isWanted })
    expect(new Set(all.map(({ id }) => id)).size).toBe(early + stored)
    return wallet
  },
  work: async (sql, sender) => {
    await unsentSince(sql, 'drex_testnet', sender)
    const until = new Date(start.getTime() + 2 * hourMs)
    await unsentOf(sql, 'drex_testnet', sender, { until, isWanted })
  },
  isTooDear: ({ pagesPerCall }) => pagesPerCall > pagesMax,
  isAnalyzed: true,
})
