/** Nonces that the chain has seen and the database has not: after a restore, and where another program uses the key. */
import { afterEach, expect, test } from 'bun:test'
import type { Unsent } from '../../src/drex/engine/held-store.ts'
import { match } from '../../src/drex/engine/reckoning.ts'
import type { Sent } from '../../src/drex/engine/sent.ts'
import type { Hex } from '../../src/drex/evm/hex.ts'
import { rewind } from './rewind.ts'
import { adminAddress, type Bench, createBench, currencyAbi, type TransferBody } from './support.ts'

let bench: Bench | undefined
afterEach(async () => {
  await bench?.stop()
  bench = undefined
})

const at = (bench: Bench) => {
  const { pay, read } = bench
  return {
    read,
    pay,
    async reaches(id: string, wanted: Partial<TransferBody>): Promise<TransferBody> {
      let last: TransferBody | undefined
      await bench.until(async () => {
        last = await read(id)
        return (
          last.status === wanted.status &&
          (last.error?.code ?? null) === (wanted.error?.code ?? null)
        )
      })
      return last!
    },
    /** Another program that has the wallet's key. */
    async outsider(wallet: Hex, call: { nonce: number; to: Hex; data: Hex }): Promise<void> {
      const signer = await bench.drex().wallets.signerFor(wallet, 'test')
      const { raw } = await signer.signTransaction({
        ...call,
        chainId: bench.chain.chainId,
        gasLimit: 90_000n,
        value: 0n,
        fees: { kind: 'legacy', gasPrice: 0n },
      })
      const outcome = await bench.chain.request('eth_sendRawTransaction', [raw])
      expect(outcome).toHaveProperty('result')
    },
  }
}

const failed = (code: string) => ({ code, message: '' })

test('after a restore: found, also when its time has run out meanwhile, and nothing is paid again', async () => {
  bench = await createBench({ isLying: true })
  const { pay, reaches } = at(bench)
  const [ana, bia] = [await bench.wallet(), await bench.wallet(0n)]
  const [one, late] = [await pay(ana, bia, '1.00'), await pay(ana, bia, '2.00')]
  const hashes = [
    (await reaches(one, { status: 'confirmed' })).tx_hash,
    (await reaches(late, { status: 'confirmed' })).tx_hash,
  ]
  await bench.drex().stop?.()
  await rewind(bench.database.sql, one, late)
  await bench.database.sql`
    update drex_transactions set expires_at = now() - interval '1 hour' where subject = ${late}`
  await bench.restart()
  expect((await reaches(one, { status: 'confirmed' })).tx_hash).toBe(hashes[0]!)
  expect((await reaches(late, { status: 'confirmed' })).tx_hash).toBe(hashes[1]!)
  expect(await bench.balance(bia)).toBe(300n)
})

test('held while the nodes no longer tell what was mined; released, it is sent', async () => {
  bench = await createBench({ isLying: true })
  const { pay, reaches, outsider, read } = at(bench)
  const [ana, bia] = [await bench.wallet(), await bench.wallet(0n)]
  await bench.drex().stop?.()
  const unclear = await pay(ana, bia, '1.00')
  await outsider(ana, { nonce: 0, to: adminAddress, data: '0x' })
  await bench.until(async () => {
    const outcome = await bench!.chain.request('eth_getTransactionCount', [ana, 'latest'])
    return 'result' in outcome && outcome.result === '0x1'
  })
  bench.node.lie(({ method, params }) =>
    method === 'eth_getTransactionCount' && !['latest', 'pending'].includes(String(params[1]))
      ? { error: { code: -32_000, message: 'missing trie node' } }
      : undefined,
  )
  await bench.restart()
  await reaches(unclear, { status: 'pending', error: failed('MAY_BE_SENT') })
  expect(await bench.scrape()).toMatch(/drex_transactions_held\{network="drex_testnet"\} 1/)
  const next = await pay(ana, bia, '2.00')
  await reaches(next, { status: 'confirmed' })
  expect((await read(unclear)).status).toBe('pending')
  const { json } = await bench.call('GET', '/v1/drex/held')
  const { held } = json as { held: { transaction_id: string; candidates: string[] }[] }
  expect(held).toMatchObject([{ candidates: [] }])
  const path = `/v1/drex/held/${held[0]?.transaction_id}/resolve`
  expect((await bench.call('POST', path, { decision: 'sent' })).status).toBe(400)
  expect((await bench.call('POST', path, { decision: 'send' })).status).toBe(200)
  await reaches(unclear, { status: 'confirmed' })
  expect(await bench.balance(bia)).toBe(300n)
  const audit = await bench.database.sql`
    select object from audit_log where action = 'drex.resolve'`
  expect([...audit]).toEqual([{ object: held[0]?.transaction_id }])
})

test('what a node refuses in passing is asked again: nothing is held for it', async () => {
  bench = await createBench({ isLying: true })
  const { pay, reaches, outsider } = at(bench)
  const [ana, bia] = [await bench.wallet(), await bench.wallet(0n)]
  await bench.drex().stop?.()
  const waiting = await pay(ana, bia, '1.00')
  await outsider(ana, { nonce: 0, to: adminAddress, data: '0x' })
  await bench.until(async () => {
    const outcome = await bench!.chain.request('eth_getTransactionCount', [ana, 'latest'])
    return 'result' in outcome && outcome.result === '0x1'
  })
  let refused = 0
  bench.node.lie(({ method, params }) =>
    method === 'eth_getTransactionCount' &&
    !['latest', 'pending'].includes(String(params[1])) &&
    refused++ < 6
      ? { error: { code: -32_000, message: 'something nobody has seen' } }
      : undefined,
  )
  await bench.restart()
  await reaches(waiting, { status: 'confirmed' })
  expect(refused).toBeGreaterThan(6)
})

test('what another program sends with the key holds up nothing else', async () => {
  bench = await createBench({ isLying: true })
  const { pay, reaches, outsider } = at(bench)
  const [ana, bia] = [await bench.wallet(), await bench.wallet(0n)]
  await bench.drex().stop?.()
  const waiting = await pay(ana, bia, '1.00')
  await outsider(ana, { nonce: 0, to: adminAddress, data: '0x' })
  await outsider(ana, { nonce: 1, to: bench.admin.token, data: transferData(bia, 7n) })
  await bench.until(async () => (await bench!.balance(bia)) === 7n)
  await bench.restart()
  await reaches(waiting, { status: 'confirmed' })
  expect(await bench.balance(bia)).toBe(107n)
})

test('what is cancelled at once by several, and one of it was sent, is compared once', async () => {
  bench = await createBench({ isLying: true })
  const { pay, outsider } = at(bench)
  const [ana, bia] = [await bench.wallet(), await bench.wallet(0n)]
  await bench.restart({ DREX_ENGINE_ENABLED: 'false' })
  const all = [
    await pay(ana, bia, '7.00'),
    await pay(ana, bia, '1.00'),
    await pay(ana, bia, '2.00'),
  ]
  await Bun.sleep(1_100)
  await outsider(ana, { nonce: 0, to: bench.admin.token, data: transferData(bia, 700n) })
  await bench.until(async () => (await bench!.balance(bia)) === 700n)
  const answers = await Promise.all(
    all.map((id) => bench!.call('POST', `/v1/drex/transfers/${id}/cancel`)),
  )
  expect(answers.map(({ status }) => status)).toEqual([409, 200, 200])
}, 60_000)

test('a fee raised after the copy: the same call under the same nonce is ours, and is not paid again', async () => {
  bench = await createBench({ chain: { mining: 'manual' } })
  const { pay, reaches, outsider } = at(bench)
  const [ana, bia] = [await bench.wallet(), await bench.wallet(0n)]
  bench.chain.faults.set([{ kind: 'dropped', method: 'eth_sendRawTransaction' }])
  const signed = await pay(ana, bia, '1.00')
  await reaches(signed, { status: 'broadcast' })
  const { tx_hash: first } = await at(bench).read(signed)
  // The same call with other terms has another hash.
  await outsider(ana, { nonce: 0, to: bench.admin.token, data: transferData(bia, 100n) })
  await bench.chain.mine()
  bench.chain.faults.set([])
  const { tx_hash: second } = await reaches(signed, { status: 'confirmed' })
  expect(second).not.toBe(first)
  expect(await bench.balance(bia)).toBe(100n)
})

const transferData = (to: Hex, units: bigint): Hex =>
  currencyAbi.encodeFunctionData('transfer', [to, units]) as Hex

const second = 1_000
const noon = Date.UTC(2026, 0, 1, 12)
const waits = (id: string, createdMs: number, data: Hex = '0x01'): Unsent => ({
  id,
  kind: 'transfer',
  recipient: adminAddress,
  data,
  value: 0n,
  createdAt: new Date(createdMs),
})
const mined = (nonce: number, minedMs: number, data: Hex = '0x01'): Sent => ({
  nonce,
  minedMs,
  data,
  to: adminAddress,
  value: 0n,
  raw: '0x',
  gasLimit: 1n,
  maxFee: 0n,
  tip: 0n,
  hash: `0x${nonce}`,
})
const matched = (unsent: readonly Unsent[], sent: readonly Sent[]) => {
  const { adopted, held } = match(unsent, sent)
  return {
    adopted: [...adopted].map(([id, { nonce }]) => [id, nonce]),
    held: [...held.keys()],
  }
}

test('what waits is matched with what was sent', () => {
  const one = [waits('a', noon)]
  expect(matched(one, [mined(0, noon)])).toEqual({ adopted: [['a', 0]], held: [] })
  expect(matched(one, [mined(0, noon, '0x02')])).toEqual({ adopted: [], held: [] })
  // As many of one as of the other, in order.
  const two = [...one, waits('b', noon)]
  const both = [mined(0, noon), mined(3, noon + second)]
  expect(matched(two, both)).toEqual({
    adopted: [
      ['a', 0],
      ['b', 3],
    ],
    held: [],
  })
  expect(matched(one, both)).toEqual({ adopted: [], held: ['a'] })
  expect(matched(two, [mined(0, noon)])).toEqual({ adopted: [], held: ['a', 'b'] })
  // A block's clock has whole seconds; clocks differ by at most a minute.
  expect(matched(one, [mined(0, noon - second + 1)]).adopted).toHaveLength(1)
  expect(matched(one, [mined(0, noon - second)])).toEqual({ adopted: [], held: ['a'] })
  expect(matched(one, [mined(0, noon - 60 * second)])).toEqual({ adopted: [], held: ['a'] })
  expect(matched(one, [mined(0, noon - 60 * second - 1)])).toEqual({ adopted: [], held: [] })
  // One of another day does not make the pair of today unclear.
  const older = [mined(0, noon - 3_600 * second), mined(1, noon)]
  expect(matched(one, older)).toEqual({ adopted: [['a', 1]], held: [] })
})
