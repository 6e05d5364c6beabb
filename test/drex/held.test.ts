/** What may be on the chain already: told by an event, by health and by the list, with the reason and what it may be. */
import { expect, test } from 'bun:test'
import { unsentOf } from '../../src/drex/engine/held-store.ts'
import type { Hex } from '../../src/drex/evm/hex.ts'
import { sendOutside } from './outside.ts'
import { benchOfFile, currencyAbi, sealer } from './support.ts'

const bench = await benchOfFile({ isLying: true })

type Held = {
  readonly transaction_id: string
  readonly subject: string
  readonly reason: string
  readonly candidates: readonly string[]
}

/** A wallet whose key another program has paid with, twice the same; then the same is asked for here. */
const payBoth = async (
  amount: string,
): Promise<{ from: Hex; id: string; sent: readonly Hex[] }> => {
  const [from, to] = [await bench.wallet(10_000n), await bench.wallet(0n)]
  const cents = BigInt(amount.replace('.', ''))
  const data = currencyAbi.encodeFunctionData('transfer', [to, cents])
  const call = { to: bench.admin.token, data }
  const sent = await sendOutside({ ...bench, sealer }, from, [call, call])
  await bench.until(async () => (await bench.balance(to)) === 2n * cents)
  return { from, id: await bench.pay(from, to, amount), sent }
}

const heldOf = async (id: string): Promise<Held> => {
  let found: Held | undefined
  await bench.until(async () => {
    const { json } = await bench.call('GET', '/v1/drex/held')
    found = (json as { held: Held[] }).held.find(({ subject }) => subject === id)
    return found !== undefined
  })
  return found!
}

const eventOf = (id: string) =>
  bench.events.filter(
    ({ type, data }) =>
      type === 'drex.transaction.held' && (data as { subject: string }).subject === id,
  )

const resolved = async (held: Held, id: string): Promise<void> => {
  const path = `/v1/drex/held/${held.transaction_id}/resolve`
  expect((await bench.call('POST', path, { decision: 'send' })).status).toBe(200)
  await bench.reaches(id, 'confirmed')
}

test('the same call is on the chain twice: one event says which it may be, and it is sent once somebody says so', async () => {
  const { id, sent } = await payBoth('1.00')
  const held = await heldOf(id)
  expect([held.reason, held.candidates.toSorted()]).toEqual(['looks_alike', sent.toSorted()])
  expect(eventOf(id)).toMatchObject([
    { data: { transaction_id: held.transaction_id, kind: 'transfer', reason: 'looks_alike' } },
  ])
  await resolved(held, id)
  expect(eventOf(id)).toHaveLength(1)
}, 60_000)

const resolve = async (held: Held, body: object): Promise<number> =>
  (await bench.call('POST', `/v1/drex/held/${held.transaction_id}/resolve`, body)).status

test('one that was mined after the comparison: the wallet goes on behind its nonce, and no other waits', async () => {
  const { from, id } = await payBoth('3.00')
  const held = await heldOf(id)
  const { recipient, data } = (
    await bench.database.sql<{ recipient: Hex; data: Hex }[]>`
      select recipient, data from drex_transactions where subject = ${id}`
  )[0]!
  const [hash] = await sendOutside({ ...bench, sealer }, from, [{ to: recipient, data }])
  await bench.until(async () => {
    const told = await bench.chain.request('eth_getTransactionReceipt', [hash])
    return 'result' in told && told.result !== null
  })
  expect(await resolve(held, { decision: 'sent', tx_hash: hash })).toBe(200)
  const [other, to] = [await bench.wallet(10_000n), await bench.wallet(0n)]
  const ids = await Promise.all([from, other].map((each) => bench.pay(each, to, '1.00')))
  for (const each of [id, ...ids]) await bench.reaches(each, 'confirmed')
}, 60_000)

test('a hash or a nonce that another transaction has is refused', async () => {
  const { sql } = bench.database
  const { from, id, sent } = await payBoth('4.00')
  expect(await resolve(await heldOf(id), { decision: 'sent', tx_hash: sent[0] })).toBe(200)
  await bench.reaches(id, 'confirmed')
  await bench.drex().stop?.()
  const [to] = await sql<{ wallet: Hex }[]>`
    select to_wallet as wallet from drex_transfers where id = ${id}`
  const second = await bench.pay(from, to!.wallet, '4.00')
  await sql`
    update drex_transactions set held = jsonb_build_object('since', now(), 'candidates', '[]'::jsonb)
    where subject = ${second}`
  const held = await heldOf(second)
  expect(await resolve(held, { decision: 'sent', tx_hash: sent[0] })).toBe(400)
  await sql`
    update drex_transactions set hash = ${sent[0]!.replace(/.{4}$/, 'abcd')} where subject = ${id}`
  expect(await resolve(held, { decision: 'sent', tx_hash: sent[0] })).toBe(400)
  expect(await resolve(held, { decision: 'sent', tx_hash: sent[1] })).toBe(200)
  await bench.restart()
  await bench.reaches(second, 'confirmed')
}, 60_000)

test('a lane behind the nonces of its own rows: the wallet goes on, and holds up no other', async () => {
  const [ana, eva] = [await bench.wallet(10_000n), await bench.wallet(10_000n)]
  const to = await bench.wallet(0n)
  await bench.reaches(await bench.pay(ana, to, '1.00'), 'confirmed')
  await bench.database.sql`update drex_lanes set next_nonce = 0 where sender = ${ana}`
  const ids = await Promise.all([ana, eva, ana, eva].map((each) => bench.pay(each, to, '1.00')))
  for (const id of ids) await bench.reaches(id, 'confirmed')
}, 60_000)

test('nodes without the states that would tell: all of the wallet waits, and health says why', async () => {
  bench.node.lie(({ method, params }) =>
    method === 'eth_getTransactionCount' && !['latest', 'pending'].includes(String(params[1]))
      ? { error: { code: -32_000, message: 'missing trie node: state is not available' } }
      : undefined,
  )
  const { id } = await payBoth('2.00')
  const held = await heldOf(id)
  expect([held.reason, held.candidates]).toEqual(['not_told', []])
  expect(eventOf(id)).toMatchObject([{ data: { reason: 'not_told', candidates: [] } }])
  await bench.until(async () =>
    String((await bench.drex().health?.())?.reason).includes(
      '1 held on drex_testnet, 1 because the nodes do not tell what the wallet has sent: see GET /v1/drex/held',
    ),
  )
  bench.node.lie(undefined)
  await resolved(held, id)
}, 60_000)

test('before anything is cancelled, it is compared: what may be paid is held, and what is paid goes on', async () => {
  const { sql } = bench.database
  await bench.restart({ DREX_ENGINE_ENABLED: 'false' })
  const cancel = async (id: string) =>
    (await bench.call('POST', `/v1/drex/transfers/${id}/cancel`)).status
  const [alike, clear, fresh] = [
    await payBoth('6.00'),
    { from: await bench.wallet(10_000n), to: await bench.wallet(0n) },
    await bench.wallet(10_000n),
  ]
  const unpaid = await bench.pay(fresh, clear.to, '1.00')
  bench.node.lie(({ method }) =>
    method === 'eth_getTransactionCount' ? { error: { code: -32000, message: 'busy' } } : undefined,
  )
  expect(await cancel(unpaid)).toBe(503)
  bench.node.lie(undefined)
  expect(await cancel(unpaid)).toBe(200)
  expect(await cancel(alike.id)).toBe(409)
  expect(eventOf(alike.id)).toHaveLength(1)
  // Somebody has looked, and decides that it is none of those.
  expect(await cancel(alike.id)).toBe(200)
  const paid = await bench.pay(clear.from, clear.to, '7.00')
  const data = currencyAbi.encodeFunctionData('transfer', [clear.to, 700n])
  await Bun.sleep(1_100)
  await sendOutside({ ...bench, sealer }, clear.from, [{ to: bench.admin.token, data }])
  await bench.until(async () => (await bench.balance(clear.to)) === 700n)
  expect(await cancel(paid)).toBe(409)
  const [row] = await sql`select status from drex_transactions where subject = ${paid}`
  expect(row!['status']).not.toBe('cancelled')
  await bench.restart()
  await bench.reaches(paid, 'confirmed')
  expect(await bench.balance(clear.to)).toBe(700n)
}, 60_000)

test('what was accepted after all that is on the chain is not even read', async () => {
  const { sql } = bench.database
  const sender: Hex = `0x${'e1'.repeat(20)}`
  await sql`
    insert into drex_transactions (id, network, sender, kind, subject, status, data, created_by, expires_at, created_at)
    select 'dtx_e' || n, 'drex_testnet', ${sender}, 'transfer', 'trf_e' || n, 'pending', '0x', 'k',
      now() + interval '1 day', now() - interval '1 minute' * (3 - n)
    from generate_series(1, 3) n`
  const idsUntil = async (until: Date | undefined) => {
    const read: string[] = []
    const isWanted = ({ id }: { readonly id: string }) => read.push(id) > 0
    const found = await unsentOf(sql, 'drex_testnet', sender, { until, isWanted })
    expect(found.map(({ id }) => id)).toEqual(read)
    return read
  }
  expect(await idsUntil(undefined)).toEqual(['dtx_e1', 'dtx_e2', 'dtx_e3'])
  expect(await idsUntil(new Date(Date.now() - 30_000))).toEqual(['dtx_e1', 'dtx_e2'])
  await sql`delete from drex_transactions where sender = ${sender}`
})
