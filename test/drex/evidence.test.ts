/** No end without evidence: receipts that lag, tokens that do not move, blocks that leave the chain. */
import { afterEach, describe, expect, test } from 'bun:test'
import { createLyingNode, type Lie } from './lying-node.ts'
import { adminAddress, type Bench, createBench } from './support.ts'

let bench: Bench
afterEach(() => bench.stop())

const attemptsOf = async (): Promise<number> => {
  const [row] = await bench.database.sql<{ attempts: number }[]>`
    select max(attempts) as attempts from drex_transactions`
  return row?.attempts ?? 0
}

const word = (value: bigint): string => value.toString(16).padStart(64, '0')

test('receipts that lag behind nonces: it waits, and is told confirmed when they come', async () => {
  bench = await createBench({ isLying: true, chain: { mining: 'manual' } })
  const [ana, bia] = [await bench.wallet(), await bench.wallet(0n)]
  const id = await bench.pay(ana, bia)
  await bench.reaches(id, 'broadcast')
  const counts = () => bench.node.asked.get('eth_getTransactionCount') ?? 0
  const before = counts()
  bench.node.lie(({ method }) =>
    method === 'eth_getTransactionReceipt' ? { result: null } : undefined,
  )
  await bench.chain.mine()
  // It is looked for, twice at least: the nonce is used, and the block that used it has our own transaction.
  await bench.until(async () => counts() >= before + 4)
  expect((await bench.read(id)).status).toBe('broadcast')
  expect(bench.events).toEqual([])
  bench.node.lie(undefined)
  await bench.reaches(id, 'confirmed')
  expect((await bench.database.sql`select 1 from drex_corrections`).length).toBe(0)
})

test('a node that tells a foreign transaction once, and another has our receipt: it waits', async () => {
  bench = await createBench({ isLying: true, chain: { mining: 'manual' } })
  await bench.restart({ DREX_TESTNET_RPC_URLS: `${bench.node.url},${bench.chain.url}` })
  const [ana, bia] = [await bench.wallet(), await bench.wallet(0n)]
  const id = await bench.pay(ana, bia)
  await bench.reaches(id, 'broadcast')
  const foreign = `0x${'cd'.repeat(32)}`
  bench.node.lie(async ({ method, params }, answer) => {
    if (method === 'eth_getTransactionReceipt') return { result: null }
    const outcome = await answer()
    if (method !== 'eth_getBlockByNumber' || !('result' in outcome)) return outcome
    const block = outcome.result as { transactions: unknown[] } | null
    if (params[1] !== true || block === null) {
      return block === null ? outcome : { result: { ...block, transactions: [] } }
    }
    const transactions = block.transactions.map((each) => ({ ...(each as object), hash: foreign }))
    return { result: { ...block, transactions } }
  })
  await bench.chain.mine()
  const asked = () => bench.node.asked.get('eth_getTransactionReceipt') ?? 0
  await bench.until(async () => asked() >= 6)
  expect(['broadcast', 'mined']).toContain((await bench.read(id)).status)
  bench.node.lie(undefined)
  await bench.reaches(id, 'confirmed')
  expect(await bench.balance(bia)).toBe(100n)
})

test('a node that invents a foreign transaction, always the same: nothing is signed again', async () => {
  bench = await createBench({ isLying: true, chain: { mining: 'manual' } })
  const [ana, bia] = [await bench.wallet(), await bench.wallet(0n)]
  const id = await bench.pay(ana, bia)
  const { tx_hash } = await bench.reaches(id, 'broadcast')
  const foreign = `0x${'cd'.repeat(32)}`
  let told = 0
  bench.node.lie(async ({ method, params }, answer) => {
    if (method === 'eth_getTransactionReceipt') return { result: null }
    if (method === 'eth_getTransactionByHash') {
      told++
      const { result } = (await bench.chain.request(method, [tx_hash])) as { result: object }
      return { result: { ...result, hash: foreign } }
    }
    const outcome = await answer()
    if (method !== 'eth_getBlockByNumber' || !('result' in outcome)) return outcome
    const block = outcome.result as { transactions: unknown[] } | null
    if (block === null) return outcome
    if (params[1] === true) told++
    const transactions = block.transactions.map((each) =>
      params[1] === true ? { ...(each as object), hash: foreign } : foreign,
    )
    return { result: { ...block, transactions } }
  })
  await bench.chain.mine()
  await bench.until(async () => told >= 6)
  // The same may be handed in twice; nothing else is signed for it.
  expect(await bench.read(id)).toMatchObject({ status: 'broadcast', tx_hash })
  expect((await bench.database.sql`select 1 from drex_attempts`).length).toBe(0)
  expect((await bench.database.sql`select 1 from drex_corrections`).length).toBe(0)
  bench.node.lie(undefined)
  await bench.reaches(id, 'confirmed')
  expect(await bench.balance(bia)).toBe(100n)
})

test('of two nodes one tells another end than the chain: no end is told until they agree', async () => {
  bench = await createBench({ isLying: true, chain: { mining: 'manual' } })
  await bench.restart({ DREX_TESTNET_RPC_URLS: `${bench.node.url},${bench.chain.url}` })
  const [ana, bia] = [await bench.wallet(), await bench.wallet(0n)]
  const id = await bench.pay(ana, bia)
  await bench.reaches(id, 'broadcast')
  let told = 0
  bench.node.lie(async ({ method }, answer) => {
    if (method !== 'eth_getTransactionReceipt') return undefined
    const outcome = (await answer()) as { result: object | null }
    if (outcome.result === null) return outcome
    told++
    return { result: { ...outcome.result, status: '0x0', logs: [] } }
  })
  await bench.chain.mine()
  await bench.until(async () => told >= 5)
  expect(['mined', 'broadcast']).toContain((await bench.read(id)).status)
  expect(bench.events).toEqual([])
  bench.node.lie(undefined)
  await bench.until(async () => {
    await bench.chain.mine()
    return (await bench.read(id)).status === 'confirmed'
  })
  // Whoever trusts each node says so.
  await bench.restart({ DREX_NODES_AGREEING: '1' })
})

test('of three nodes one tells another end than the block proves: the others are enough', async () => {
  bench = await createBench({ isLying: true })
  const { node, chain } = bench
  const second = createLyingNode(chain)
  let told = 0
  const contrary: Lie = async ({ method }, answer) => {
    if (method !== 'eth_getTransactionReceipt') return undefined
    const outcome = (await answer()) as { result: object | null }
    if (outcome.result !== null) told++
    return { result: outcome.result && { ...outcome.result, status: '0x0', logs: [] } }
  }
  try {
    await bench.restart({ DREX_TESTNET_RPC_URLS: [chain.url, second.url, node.url].join(',') })
    const [ana, bia] = [await bench.wallet(), await bench.wallet(0n)]
    node.lie(contrary)
    // The contradiction is there before the second that agrees.
    second.lie(async ({ method }, answer) => {
      if (method === 'eth_getTransactionReceipt') await Bun.sleep(50)
      return answer()
    })
    await bench.reaches(await bench.pay(ana, bia), 'confirmed')
    // Two that say so are more than the one that does not.
    second.lie(contrary)
    const id = await bench.pay(ana, bia)
    const before = told
    await bench.until(async () => told >= before + 6)
    expect(['mined', 'broadcast']).toContain((await bench.read(id)).status)
    second.lie(undefined)
    await bench.reaches(id, 'confirmed')
  } finally {
    await second.stop()
  }
})

test('of two nodes one is away: what the other tells is written down, and no end is told of it', async () => {
  bench = await createBench({ isLying: true, chain: { mining: 'manual' } })
  await bench.restart({ DREX_TESTNET_RPC_URLS: `${bench.chain.url},${bench.node.url}` })
  const [ana, bia] = [await bench.wallet(), await bench.wallet(0n)]
  const id = await bench.pay(ana, bia)
  await bench.reaches(id, 'broadcast')
  let asked = 0
  bench.node.refuse(() => {
    asked++
    return new Response('away', { status: 503 })
  })
  await bench.chain.mine()
  await bench.reaches(id, 'mined')
  const before = asked
  await bench.until(async () => asked >= before + 3)
  expect((await bench.read(id)).status).toBe('mined')
  expect(bench.events).toEqual([])
  bench.node.refuse(undefined)
  await bench.reaches(id, 'confirmed')
})

describe('a token that does not move', () => {
  const before: readonly (readonly [string, string, string, string])[] = [
    ['answers false', 'eth_call', `0x${word(0n)}`, 'TOKEN_REFUSED'],
    ['answers two', 'eth_call', `0x${word(2n)}`, 'TOKEN_REFUSED'],
    ['has no code', 'eth_getCode', '0x', 'NO_CONTRACT'],
  ]
  for (const [name, method, result, code] of before) {
    test(`${name}: nothing is signed`, async () => {
      bench = await createBench({ isLying: true })
      const [ana, bia] = [await bench.wallet(), await bench.wallet(0n)]
      bench.node.lie((call) => {
        const { data } = (call.params[0] ?? {}) as { data?: string }
        const isTransfer = data === undefined || data.startsWith('0xa9059cbb')
        return call.method === method && isTransfer ? { result } : undefined
      })
      const failed = await bench.reaches(await bench.pay(ana, bia), 'failed')
      expect([failed.error?.code, failed.tx_hash]).toEqual([code, null])
    })
  }

  test('answers nothing, as tokens of the older kind do: confirmed by its events', async () => {
    bench = await createBench({ isLying: true })
    const [ana, bia] = [await bench.wallet(), await bench.wallet(0n)]
    bench.node.lie(({ method, params }) =>
      method === 'eth_call' && String((params[0] as { data: string }).data).startsWith('0xa9059cbb')
        ? { result: '0x' }
        : undefined,
    )
    await bench.reaches(await bench.pay(ana, bia), 'confirmed')
  })

  type Log = { readonly topics: readonly string[]; readonly data: string }
  const receipts: readonly (readonly [string, (log: Log) => readonly object[], string])[] = [
    ['no event', () => [], '0'],
    ['less than asked', (log) => [{ ...log, data: `0x${word(99n)}` }], '99'],
    ['four topics', (log) => [{ ...log, topics: [...log.topics, log.topics[1]], data: '0x' }], '0'],
    ['another token', (log) => [{ ...log, address: adminAddress }], '0'],
    [
      'another receiver',
      (log) => [{ ...log, topics: log.topics.toSpliced(2, 1, log.topics[1]!) }],
      '0',
    ],
  ]
  for (const [name, logs, moved] of receipts) {
    test(`succeeds with ${name}: never confirmed, and says what was seen`, async () => {
      bench = await createBench({ isLying: true, env: { DREX_TESTNET_PROOFS: 'false' } })
      const [ana, bia] = [await bench.wallet(), await bench.wallet(0n)]
      bench.node.lie(async ({ method }, answer) => {
        const outcome = await answer()
        if (method !== 'eth_getTransactionReceipt' || !('result' in outcome)) return outcome
        const receipt = outcome.result as { logs: Log[] } | null
        return receipt === null
          ? outcome
          : { result: { ...receipt, logs: receipt.logs.flatMap(logs) } }
      })
      const failed = await bench.reaches(await bench.pay(ana, bia), 'failed')
      expect(failed.error?.code).toBe('TRANSFER_MISMATCH')
      expect(failed.error?.message).toContain(
        `${moved} of its smallest units moved, instead of 100`,
      )
      expect(bench.events.map(({ type }) => type)).toEqual(['drex.transfer.failed'])
    })
  }
})

test('confirmed, then reorganised out: taken back by an event, and confirmed again by itself', async () => {
  bench = await createBench({ chain: { mining: 'manual' } })
  const [ana, bia] = [await bench.wallet(), await bench.wallet(0n)]
  await bench.chain.markFork()
  const id = await bench.pay(ana, bia)
  await bench.reaches(id, 'broadcast')
  await bench.chain.mine()
  const first = await bench.reaches(id, 'confirmed')
  await bench.chain.reorg()
  await bench.until(async () => bench.events.some(({ type }) => type === 'drex.transfer.corrected'))
  const corrected = bench.events.find(({ type }) => type === 'drex.transfer.corrected')
  expect(corrected?.data as object).toMatchObject({
    transfer_id: id,
    previous_status: 'confirmed',
    status: 'broadcast',
    tx_hash: first.tx_hash,
    error: { code: 'REORGANISED' },
  })
  const sent = await attemptsOf()
  await bench.until(async () => (await attemptsOf()) > sent)
  await bench.chain.mine()
  const again = await bench.reaches(id, 'confirmed')
  expect(again.tx_hash).toBe(first.tx_hash)
  expect(await bench.balance(bia)).toBe(100n)
  expect(bench.events.map(({ type }) => type)).toEqual([
    'drex.transfer.confirmed',
    'drex.transfer.corrected',
    'drex.transfer.confirmed',
  ])
  expect((again as unknown as { corrections: unknown }).corrections).toMatchObject([
    { from: 'confirmed', to: 'broadcast', code: 'REORGANISED', tx_hash: first.tx_hash },
  ])
})

test('what was reorganised out while no gateway ran is found out at the start', async () => {
  bench = await createBench({ chain: { mining: 'manual' } })
  const [ana, bia] = [await bench.wallet(), await bench.wallet(0n)]
  await bench.chain.markFork()
  const id = await bench.pay(ana, bia)
  await bench.reaches(id, 'broadcast')
  await bench.chain.mine()
  await bench.reaches(id, 'confirmed')
  await bench.drex().stop?.()
  await bench.chain.reorg()
  await bench.restart()
  await bench.until(async () => {
    await bench.chain.mine()
    return bench.events.length >= 3
  })
  expect(bench.events.map(({ type }) => type)).toEqual([
    'drex.transfer.confirmed',
    'drex.transfer.corrected',
    'drex.transfer.confirmed',
  ])
  expect(await bench.balance(bia)).toBe(100n)
})
