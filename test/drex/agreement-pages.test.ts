/** What a look at the contracts of agreements reads: what was told in the blocks, however much may still be told. */
import type { Client } from '#src/platform/database/index.ts'
import { concerned, endFollowing, isFollowing } from '../../src/drex/agreements/store.ts'
import type { Hex } from '../../src/drex/evm/hex.ts'
import { holdPageBudgets, isLong } from '../support/page-budgets.ts'

const stored = isLong ? 1_000_000 : 20_000
const pagesMax = 30
const network = 'drex_testnet'
const block = 1_000
const now = 2_000_000_000
const house: Hex = `0x${'ab'.repeat(20)}`
const lienOf = (number: number): Hex => `0x${number.toString(16).padStart(40, '0')}`

/** Open ones; what has ended and is still followed; what has ended for good; and a lien that may be pledged to again. */
const fill = async (sql: Client): Promise<void> => {
  await sql`
    insert into drex_agreements (id, kind, status, network, contract, wallet, part, terms, state, expiry, until_block,
      account, created_by)
    select kind || '_' || lpad(n::text, 10, '0'), kind,
      case when n % 10 > 3 then 'active' when kind = 'lien' then 'released' else 'settled' end, ${network},
      case kind when 'delivery' then ${house} else '0x' || lpad(to_hex(n), 40, '0') end, '0x1', 'seller',
      case kind when 'delivery' then jsonb_build_object('number', n::text) else '{}' end, '{}',
      case kind when 'lien' then ${now + 1}::bigint end,
      case n % 10 when 1 then ${block + 1}::bigint when 2 then ${block - 1} when 3 then ${block - 1} end, 'default', 'key_1'
    from generate_series(1, ${stored / 2}::int) n cross join (values ('delivery'), ('lien')) kinds(kind)
    where kind = 'lien' or n % 10 > 0`
}

holdPageBudgets<number>({
  absent: 0,
  store: async (sql) => {
    await fill(sql)
    return stored / 4 + 7
  },
  work: async (sql, number) => {
    await isFollowing(sql, network, block)
    await isFollowing(sql, 'drex_mainnet', block)
    await concerned(sql, network, block, [
      { contract: house, number: String(number) },
      { contract: lienOf(number), number: '' },
    ])
    await sql.begin((tx) => endFollowing(tx, network, { untilBlock: block + 9, blockTime: now }))
  },
  isTooDear: ({ pagesPerCall }) => pagesPerCall > pagesMax,
  isAnalyzed: true,
})
