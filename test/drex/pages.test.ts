/** What finding a contract reads, on every engine at hand, whatever its plan was made of. */

import { contractsByAddress, contractsOfNetwork } from '../../src/drex/contracts/store.ts'
import type { Hex } from '../../src/drex/evm/hex.ts'
import { holdPageBudgets, isLong } from '../support/page-budgets.ts'

const stored = isLong ? 1_000_000 : 20_000
const pagesMax = 30
const network = 'drex_testnet'
const addressOf = (number: number): Hex => `0x${number.toString(16).padStart(40, '0')}`

holdPageBudgets<Hex>({
  absent: addressOf(0),
  store: async (sql) => {
    await sql`
      insert into drex_contracts (id, network, address, label, params, abi, created_by)
      select 'ctr_' || lpad(n::text, 10, '0'), ${network}, '0x' || lpad(to_hex(n), 40, '0'), 'Token',
        '{}'::jsonb, '[]'::jsonb, 'key_1'
      from generate_series(1, ${stored}::int) n`
    return addressOf(stored / 2)
  },
  work: async (sql, address) => {
    await contractsByAddress(sql, address, 'default')
    await contractsOfNetwork(sql, network, 'default', [address])
  },
  isTooDear: ({ pagesPerCall }) => pagesPerCall > pagesMax,
  isAnalyzed: true,
})
