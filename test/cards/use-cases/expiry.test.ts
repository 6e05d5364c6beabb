import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import { emitWithin } from '#src/webhooks/index.ts'
import { insertReversals } from '../../../src/cards/reversals/index.ts'
import { createExpiry } from '../../../src/cards/use-cases/expiry.ts'
import { type CardRecord, cardsRigOfFile } from '../../support/cards-rig.ts'
import { quietLogger } from '../../support/database.ts'
import { subscribe } from '../../support/webhooks.ts'

setDefaultTimeout(60_000)

// Without the setting: the gateway's own job must not come before the test's.
const rig = await cardsRigOfFile()
await subscribe(rig.database.sql, ['card.transaction.*'])

type Json = Readonly<Record<string, unknown>>
type Options = Parameters<typeof createExpiry>[0]

const sweep = (change: Partial<Options> = {}) =>
  createExpiry({
    sql: rig.database.sql,
    insertReversals,
    networks: rig.networks.all.map(({ name, content }) => ({
      name,
      content,
      authorizationHours: name === 'neta' ? 24 : undefined,
    })),
    emission: emitWithin,
    logger: quietLogger,
    now: () => new Date(),
    onReversals: () => undefined,
    ...change,
  }).sweep()
const call = async (id: string, path: string, body?: Json) => {
  const response = await rig.post(`/v1/transactions/${id}/${path}`, body)
  return { status: response.status, body: (await response.json()) as Json }
}
const find = async (id: string) =>
  (await (await rig.get(`/v1/transactions/${id}`)).json()) as CardRecord
const entryOf = (record: Json) => rig.simulators[0].book().find(({ rrn }) => rrn === record['rrn'])
/** An authorization of so many hours ago. */
const authorized = async (hours: number, token = 'tok_visa_approved') => {
  const { id } = await rig.authorize(token)
  await rig.database.sql`
    update card_transactions set created_at = now() - make_interval(hours => ${hours}::int)
    where id = ${id}`
  return id
}
const toldOf = async (id: string) => {
  const rows = await rig.database.sql<{ type: string }[]>`
    select type from webhook_events where subject = ${id} order by sequence`
  return rows.map(({ type }) => type)
}

describe('an authorization that nobody captures in time', () => {
  test('is released by a reversal, and told', async () => {
    const old = await authorized(25)
    const young = await authorized(23)
    await sweep()
    const record = await rig.settled(old)
    expect(record).toMatchObject({ status: 'voided', reason: 'expired' })
    expect(entryOf(record)).toMatchObject({ authorizedAmount: 10_000, reversedAmount: 10_000 })
    expect(await toldOf(old)).toEqual(['card.transaction.authorized', 'card.transaction.expired'])
    expect((await call(old, 'capture')).status).toBe(409)
    expect(await find(young)).toMatchObject({ status: 'authorized' })
    expect((await call(young, 'capture')).status).toBe(200)
  })

  test('stays where its network has no such time', async () => {
    const id = await authorized(10_000, 'tok_mastercard_approved')
    await sweep()
    expect(await find(id)).toMatchObject({ status: 'authorized' })
  })

  test('is released with its increments', async () => {
    const id = await authorized(25)
    await call(id, 'increment', { amount: 500 })
    await sweep()
    const record = await rig.settled(id)
    expect(entryOf(record)).toMatchObject({ authorizedAmount: 10_500, reversedAmount: 10_500 })
  })

  test('is released once, however many processes look', async () => {
    const id = await authorized(25)
    await Promise.all([sweep(), sweep(), sweep()])
    await rig.settled(id)
    expect(await rig.reversalsOf(id)).toMatchObject([{ reverses: 'authorization' }])
  })

  test('is released by another process when the first one ends before its commit', async () => {
    const id = await authorized(25)
    const killed = sweep({ insertReversals: () => Promise.reject(new Error('killed')) })
    await expect(killed).rejects.toThrow('killed')
    await sweep()
    const record = await rig.settled(id)
    expect(record).toMatchObject({ status: 'voided', reason: 'expired' })
    expect(await toldOf(id)).toEqual(['card.transaction.authorized', 'card.transaction.expired'])
    expect(entryOf(record)).toMatchObject({ reversedAmount: 10_000, reversals: 1 })
  })

  test('is captured or released, not both, when both come at the same time', async () => {
    const ids = await Promise.all(Array.from({ length: 8 }, () => authorized(25)))
    const [, ...answers] = await Promise.all([sweep(), ...ids.map((id) => call(id, 'capture'))])
    await sweep()
    for (const [at, id] of ids.entries()) {
      const record = await rig.settled(id)
      const isCaptured = answers[at]?.status === 200
      expect(record.status).toBe(isCaptured ? 'captured' : 'voided')
      expect(entryOf(record)).toMatchObject({
        capturedAmount: isCaptured ? 10_000 : 0,
        reversedAmount: isCaptured ? 0 : 10_000,
      })
    }
  })
})

describe('the rest of what is captured in parts', () => {
  test('is released, and the captures stay', async () => {
    const id = await authorized(25)
    await call(id, 'capture', { amount: 4_000, final: false })
    await sweep()
    const record = await rig.settled(id)
    expect(record).toMatchObject({
      status: 'captured',
      reason: 'expired',
      captured_amount: 4_000,
      reversed_amount: 6_000,
    })
    expect(entryOf(record)).toMatchObject({ capturedAmount: 4_000, reversedAmount: 6_000 })
    expect(await toldOf(id)).toEqual([
      'card.transaction.authorized',
      'card.transaction.partially_captured',
      'card.transaction.expired',
      'card.transaction.captured',
    ])
    expect((await call(id, 'refund')).status).toBe(200)
  })

  test('lapses at a network that takes no message for it', async () => {
    const id = await authorized(25)
    await call(id, 'capture', { amount: 4_000, final: false })
    const [network] = rig.networks.all
    if (network === undefined) throw new Error('no network')
    const content = { ...network.content, has: () => false }
    await sweep({ networks: [{ name: network.name, authorizationHours: 24, content }] })
    expect(await find(id)).toMatchObject({ status: 'captured', captured_amount: 4_000 })
    expect(await rig.reversalsOf(id)).toEqual([])
  })
})
