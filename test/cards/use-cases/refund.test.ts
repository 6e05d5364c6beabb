import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import { eventGroups } from '#src/events/index.ts'
import { type CardRecord, cardsRigOfFile } from '../../support/cards-rig.ts'
import { subscribe } from '../../support/webhooks.ts'

setDefaultTimeout(60_000)

const rig = await cardsRigOfFile()
/** For what ends by a time-out. */
const hasty = await cardsRigOfFile({ timeoutMs: 700 })
await subscribe(rig.database.sql, ['card.transaction.*'])

type Json = Readonly<Record<string, unknown>>

const call = async (
  id: string,
  path: 'refund' | 'void' | 'capture',
  body?: Json,
  headers?: Readonly<Record<string, string>>,
  on = rig,
) => {
  const response = await on.post(`/v1/transactions/${id}/${path}`, body, headers)
  return { status: response.status, body: (await response.json()) as Json, response }
}
const entryOf = (record: Json, from = rig) =>
  from.simulators[0].book().find(({ rrn }) => rrn === record['rrn'])
const captured = (amount = 10_000, token = 'tok_visa_approved', on = rig): Promise<CardRecord> =>
  on.authorize(token, { amount, capture: true })
const typesOf = async (id: string, on = rig) => {
  const { events } = (await (await on.get(`/v1/transactions/${id}/events`)).json()) as {
    events: readonly { type: string; data: Json }[]
  }
  return events
}

describe('a refund', () => {
  test('gives back the whole, or parts until nothing is left', async () => {
    const { id } = await captured()
    const first = await call(id, 'refund', { amount: 4_000 })
    expect([first.status, first.body]).toMatchObject([
      200,
      { status: 'captured', captured_amount: 10_000, refunded_amount: 4_000 },
    ])
    expect((await call(id, 'refund')).body).toMatchObject({ refunded_amount: 10_000 })
    expect(entryOf(first.body)).toMatchObject({ capturedAmount: 10_000, refundedAmount: 10_000 })
    expect(await call(id, 'refund')).toMatchObject({
      status: 409,
      body: { error: { code: 'INVALID_STATE' } },
    })
    const types = (await typesOf(id)).map(({ type }) => type)
    expect(types.slice(-4)).toEqual(['refund_sent', 'refunded', 'refund_sent', 'refunded'])
  })

  test('is never larger than what is left, and no void follows it', async () => {
    const { id } = await rig.authorize('tok_visa_approved')
    expect(await call(id, 'refund')).toMatchObject({ status: 409 })
    await call(id, 'capture', { amount: 6_000 })
    expect(await call(id, 'refund', { amount: 6_001 })).toMatchObject({
      status: 400,
      body: { error: { code: 'AMOUNT_EXCEEDS_CAPTURED', details: { field: 'amount' } } },
    })
    expect(await call(id, 'refund', { amount: 1 })).toMatchObject({ status: 200 })
    expect(await call(id, 'refund', { amount: 6_000 })).toMatchObject({ status: 400 })
    expect(await call(id, 'void')).toMatchObject({ status: 409 })
    expect(await call(id, 'refund', { amount: 5_999 })).toMatchObject({ status: 200 })
    for (const body of [{ amount: 0 }, { amount: '1' }, { cents: 1 }]) {
      expect((await call(id, 'refund', body)).status).toBe(400)
    }
  })

  test('that comes many times at once is done once, and never beyond the capture', async () => {
    const { id } = await captured()
    const headers = { 'Idempotency-Key': 'refund-once' }
    const same = await Promise.all(
      Array.from({ length: 8 }, () => call(id, 'refund', { amount: 1_000 }, headers)),
    )
    expect(same.every(({ status }) => status === 200 || status === 409)).toBe(true)
    const others = await Promise.all(
      Array.from({ length: 12 }, () => call(id, 'refund', { amount: 3_000 })),
    )
    expect(others.every(({ status }) => [200, 400, 409].includes(status))).toBe(true)
    const again = await call(id, 'refund', { amount: 1_000 }, headers)
    expect(again.response.headers.get('Idempotent-Replayed')).toBe('true')
    const record = (await (await rig.get(`/v1/transactions/${id}`)).json()) as Json
    const done = others.filter(({ status }) => status === 200).length
    expect(record['refunded_amount']).toBe(1_000 + done * 3_000)
    expect(entryOf(record)).toMatchObject({ refundedAmount: 1_000 + done * 3_000 })
  })

  test('that the network declines changes nothing', async () => {
    const { id } = await captured(10_000, 'tok_visa_refund_declined')
    expect(await call(id, 'refund', { amount: 100 })).toMatchObject({
      status: 422,
      body: { error: { code: 'REFUND_DECLINED', details: { response_code: '05' } } },
    })
    const record = (await (await rig.get(`/v1/transactions/${id}`)).json()) as Json
    expect(record).toMatchObject({ status: 'captured', refund_error: 'declined_05' })
    expect(record['refunded_amount']).toBeUndefined()
  })

  test('whose outcome nobody knows is taken back', async () => {
    const { id } = await captured(10_000, 'tok_visa_refund_timeout', hasty)
    const answer = await call(id, 'refund', { amount: 2_500 }, {}, hasty)
    expect(answer).toMatchObject({ status: 504, body: { error: { code: 'NETWORK_TIMEOUT' } } })
    expect((await hasty.reversalsOf(id))[0]).toMatchObject({
      reverses: 'refund',
      original_mti: '0200',
      amount_cents: 2_500n,
    })
    const record = await hasty.settled(id)
    expect(record).toMatchObject({ status: 'captured', refund_error: 'timed_out' })
    expect(record['refunded_amount']).toBeUndefined()
    expect(entryOf(record, hasty)).toMatchObject({ capturedAmount: 10_000, refundedAmount: 0 })
  })
})

describe('a partial void', () => {
  test('takes a part of the authorization back, and captures what is left at most', async () => {
    const { id } = await rig.authorize('tok_visa_approved')
    const part = await call(id, 'void', { amount: 4_000 })
    expect([part.status, part.body]).toMatchObject([
      200,
      { status: 'authorized', amount: 10_000, reversed_amount: 4_000 },
    ])
    expect(entryOf(part.body)).toMatchObject({ authorizedAmount: 10_000, reversedAmount: 4_000 })
    expect((await call(id, 'void', { amount: 1_000 })).body).toMatchObject({
      reversed_amount: 5_000,
    })
    expect(await call(id, 'void', { amount: 5_001 })).toMatchObject({
      status: 400,
      body: { error: { code: 'AMOUNT_EXCEEDS_AUTHORIZED' } },
    })
    expect(await call(id, 'capture', { amount: 5_001 })).toMatchObject({ status: 400 })
    const { body } = await call(id, 'capture')
    expect(body).toMatchObject({ status: 'captured', captured_amount: 5_000 })
    expect(entryOf(body)).toMatchObject({ capturedAmount: 5_000, reversedAmount: 5_000 })
    // A part of what is captured is given back by a refund.
    expect(await call(id, 'void', { amount: 1 })).toMatchObject({ status: 409 })
  })

  test('of all that is left is a void', async () => {
    const { id } = await rig.authorize('tok_visa_approved')
    await call(id, 'void', { amount: 9_999 })
    const { body } = await call(id, 'void', { amount: 1 })
    expect(body).toMatchObject({ status: 'voided' })
    expect(entryOf(body)).toMatchObject({ reversedAmount: 10_000 })
  })

  test('without an answer is sent again with the same STAN, and then counts', async () => {
    const { id } = await hasty.authorize('tok_visa_void_timeout')
    const answer = await call(id, 'void', { amount: 4_000 }, {}, hasty)
    expect(answer).toMatchObject({ status: 504 })
    const record = await hasty.settled(id)
    expect(record).toMatchObject({ status: 'authorized', reversed_amount: 4_000 })
    expect(entryOf(record, hasty)).toMatchObject({ reversedAmount: 4_000, reversals: 2 })
    expect(hasty.simulators[0].statistics().received['0401']).toBeGreaterThan(0)
  })

  test('that the network declines changes nothing', async () => {
    const { id } = await rig.authorize('tok_visa_void_declined')
    expect(await call(id, 'void', { amount: 1 })).toMatchObject({
      status: 422,
      body: { error: { code: 'VOID_DECLINED' } },
    })
  })
})

test('refunds and partial voids are told to subscribers', async () => {
  const { id } = await rig.authorize('tok_visa_approved')
  await call(id, 'void', { amount: 4_000 })
  await call(id, 'capture')
  await call(id, 'refund', { amount: 1_000 })
  const rows = await rig.database.sql<{ type: string; data: string }[]>`
    select type, data from webhook_events where subject = ${id} order by sequence`
  expect(rows.map(({ type }) => type)).toEqual([
    'card.transaction.authorized',
    'card.transaction.partially_voided',
    'card.transaction.captured',
    'card.transaction.refunded',
  ])
  expect(eventGroups.cards.payload.parse(JSON.parse(rows[3]?.data ?? ''))).toMatchObject({
    status: 'captured',
    refunded_amount: 1_000,
    reversed_amount: 4_000,
  })
})
