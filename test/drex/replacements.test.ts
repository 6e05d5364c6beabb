/** What replaces a signed transaction on a network with fees: bounded by its own gas, and after a cancellation nothing else. */
import { afterEach, expect, test } from 'bun:test'
import type { EngineContext } from '../../src/drex/engine/context.ts'
import { inFlightById } from '../../src/drex/engine/store.ts'
import { replace } from '../../src/drex/engine/sweep.ts'
import { adminAddress, type Bench, createBench } from './support.ts'

let bench: Bench
afterEach(() => bench.stop())

const gwei = 1_000_000_000n

/** A transfer that a node says to have taken, and that no block will have. */
const begin = async (): Promise<string> => {
  bench = await createBench({
    isLying: true,
    chain: { mining: 'manual', gasPrice: gwei, balances: { [adminAddress]: 10n ** 20n } },
    env: { DREX_TESTNET_GAS_POLICY: 'legacy' },
  })
  bench.node.lie(({ method }) => (method === 'eth_sendRawTransaction' ? taken : undefined))
  const [ana, bia] = [await bench.wallet(), await bench.wallet(0n)]
  await bench.chain.request('hardhat_setBalance', [ana, '0x8ac7230489e80000'])
  const id = await bench.pay(ana, bia)
  await bench.reaches(id, 'broadcast')
  return id
}

const taken = { result: `0x${'ab'.repeat(32)}` }

const attempts = () =>
  bench.database.sql<{ kind: string; max_fee: string }[]>`
    select kind, max_fee from drex_attempts order by created_at`

const cancel = async (id: string): Promise<number> =>
  (await bench.call('POST', `/v1/drex/transfers/${id}/cancel`)).status

test('the limit of one transaction is asked of the gas that the cancellation has', async () => {
  const id = await begin()
  const [row] = await bench.database.sql<{ gas: bigint }[]>`
    select gas_limit as gas from drex_transactions where subject = ${id}`
  // At a tenth more than one gwei, the same call would be beyond it.
  await bench.restart({ DREX_TRANSACTION_FEE_MAX_GWEI: String(row!.gas) })
  expect(await cancel(id)).toBe(200)
  expect((await attempts()).map(({ kind }) => kind)).toEqual(['cancel'])
})

test('what was replaced while it was signed is not replaced: no fee of the call is raised after a cancellation', async () => {
  const id = await begin()
  const { sql } = bench.database
  await sql`update drex_transactions set due_at = now() + interval '1 hour' where subject = ${id}`
  const [row] = await sql<{ id: string }[]>`select id from drex_transactions where subject = ${id}`
  const transaction = (await inFlightById(sql, row!.id))!
  const network = { id: 'drex_testnet', chainId: 1, gasPolicy: 'legacy' }
  const fees = { feeMax: 10n ** 18n, tipMax: 10n ** 18n, totalMax: 10n ** 30n }
  const asked = { least: 3n * gwei, lasting: 3n * gwei, tip: 3n * gwei }
  const replaceWhile = (kind: 'bump' | 'cancel', nth: number, sign: () => Promise<unknown>) => {
    const signers = {
      sign: async () => {
        await sign()
        return { raw: '0x00', hash: `0x${String(nth).padStart(64, '0')}` }
      },
    }
    const context = { network, sql, settings: { fees }, signers } as unknown as EngineContext
    return replace(context, transaction, { kind, asked, over: undefined })
  }
  const raised = await replaceWhile('bump', 1, async () => {
    expect(await cancel(id)).toBe(200)
  })
  expect(raised).toBeUndefined()
  expect(await replaceWhile('cancel', 2, async () => {})).toBeUndefined()
  expect((await attempts()).map(({ kind }) => kind)).toEqual(['cancel'])
})

test('a fee that is raised while a cancellation is asked for: the cancellation offers more', async () => {
  const id = await begin()
  const { sql } = bench.database
  await sql`update drex_transactions set due_at = now() + interval '1 hour' where subject = ${id}`
  await Bun.sleep(500)
  const price = Promise.withResolvers<void>()
  let asked = 0
  bench.node.lie(async ({ method }) => {
    if (method === 'eth_sendRawTransaction') return taken
    if (method === 'eth_gasPrice' && ++asked === 1) await price.promise
    return undefined
  })
  const cancelled = cancel(id)
  await bench.until(async () => asked === 1)
  await sql`
    insert into drex_attempts (network, hash, transaction_id, kind, raw, max_fee, tip)
    select network, ${`0x${'cd'.repeat(32)}`}, id, 'bump', raw, 2 * max_fee, 2 * tip
    from drex_transactions where subject = ${id}`
  price.resolve()
  expect(await cancelled).toBe(200)
  const [bump, last] = await attempts()
  expect([bump?.kind, last?.kind]).toEqual(['bump', 'cancel'])
  expect(BigInt(last!.max_fee) * 10n).toBeGreaterThanOrEqual(BigInt(bump!.max_fee) * 11n)
})
