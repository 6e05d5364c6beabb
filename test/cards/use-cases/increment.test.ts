import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import { amountCentsMax } from '../../../src/cards/transactions/domain.ts'
import { authorizationBody, type CardRecord, cardsRigOfFile } from '../../support/cards-rig.ts'
import { subscribe } from '../../support/webhooks.ts'

setDefaultTimeout(60_000)

const rig = await cardsRigOfFile()
/** For what ends by a time-out. */
const hasty = await cardsRigOfFile({ timeoutMs: 700 })
await subscribe(rig.database.sql, ['card.transaction.*'])

type Json = Readonly<Record<string, unknown>>

const call = async (id: string, path: string, body?: Json, on = rig) => {
  const response = await on.post(`/v1/transactions/${id}/${path}`, body)
  return { status: response.status, body: (await response.json()) as Json }
}
const entryOf = (record: Json, from = rig) =>
  from.simulators[0].book().find(({ rrn }) => rrn === record['rrn'])
const find = async (id: string, on = rig) =>
  (await (await on.get(`/v1/transactions/${id}`)).json()) as CardRecord

describe('an increment', () => {
  test('raises what may be captured, before and between captures', async () => {
    const { id } = await rig.authorize('tok_visa_approved')
    const raised = await call(id, 'increment', { amount: 2_500 })
    expect(raised).toMatchObject({ status: 200, body: { status: 'authorized', amount: 12_500 } })
    expect((await call(id, 'capture', { amount: 12_501 })).status).toBe(400)
    await call(id, 'capture', { amount: 12_000, final: false })
    expect((await call(id, 'increment', { amount: 500 })).body).toMatchObject({ amount: 13_000 })
    const { body } = await call(id, 'capture')
    expect(body).toMatchObject({ status: 'captured', amount: 13_000, captured_amount: 13_000 })
    expect(entryOf(body)).toMatchObject({ authorizedAmount: 13_000, capturedAmount: 13_000 })
    expect((await call(id, 'increment', { amount: 1 })).status).toBe(409)
  })

  test('is voided with the authorization', async () => {
    const { id } = await rig.authorize('tok_visa_approved')
    await call(id, 'increment', { amount: 1_000 })
    const { body } = await call(id, 'void')
    expect(body).toMatchObject({ status: 'voided', amount: 11_000 })
    expect(entryOf(body)).toMatchObject({ authorizedAmount: 11_000, reversedAmount: 11_000 })
  })

  test('has an amount, and one that fits into DE 4 with what is authorized', async () => {
    const { id } = await rig.authorize('tok_visa_approved', { amount: 1 })
    for (const body of [{}, { amount: 0 }, { amount: -1 }, { amount: Number(amountCentsMax) }]) {
      expect(await call(id, 'increment', body)).toMatchObject({
        status: 400,
        body: { error: { code: 'INVALID_AMOUNT' } },
      })
    }
    const most = { amount: Number(amountCentsMax) - 1 }
    expect((await call(id, 'increment', most)).body).toMatchObject({
      amount: Number(amountCentsMax),
    })
  })

  test('that the network declines changes nothing', async () => {
    const { id } = await rig.authorize('tok_visa_increment_declined')
    expect(await call(id, 'increment', { amount: 1 })).toMatchObject({
      status: 422,
      body: { error: { code: 'INCREMENT_DECLINED', details: { response_code: '51' } } },
    })
    expect(await find(id)).toMatchObject({ amount: 10_000, increment_error: 'declined_51' })
  })

  test('whose outcome nobody knows is taken back alone', async () => {
    const { id } = await hasty.authorize('tok_visa_increment_timeout')
    expect((await call(id, 'increment', { amount: 2_500 }, hasty)).status).toBe(504)
    expect((await hasty.reversalsOf(id))[0]).toMatchObject({
      reverses: 'increment',
      original_mti: '0100',
      amount_cents: 2_500n,
    })
    const record = await hasty.settled(id)
    expect(record).toMatchObject({ amount: 10_000, increment_error: 'timed_out' })
    expect(entryOf(record, hasty)).toMatchObject({ authorizedAmount: 10_000, reversedAmount: 0 })
  })

  test('that come at the same time all count, or say that they do not', async () => {
    const { id } = await rig.authorize('tok_visa_approved')
    const answers = await Promise.all(
      Array.from({ length: 12 }, () => call(id, 'increment', { amount: 100 })),
    )
    const done = answers.filter(({ status }) => status === 200).length
    expect(answers.every(({ status }) => status === 200 || status === 409)).toBe(true)
    const record = await find(id)
    expect(record['amount']).toBe(10_000 + 100 * done)
    expect(entryOf(record)).toMatchObject({ authorizedAmount: 10_000 + 100 * done })
  })

  test('is told to subscribers', async () => {
    const { id } = await rig.authorize('tok_visa_approved')
    await call(id, 'increment', { amount: 1 })
    const rows = await rig.database.sql<{ type: string; data: string }[]>`
      select type, data from webhook_events where subject = ${id} order by sequence`
    expect(rows.map(({ type, data }) => [type, JSON.parse(data).amount])).toEqual([
      ['card.transaction.authorized', 10_000],
      ['card.transaction.incremented', 10_001],
    ])
  })
})

describe('an approval of a part', () => {
  test('is taken where the caller takes it, with the balance', async () => {
    const record = await rig.authorize('tok_visa_partial', { accept_partial: true })
    expect(record).toMatchObject({
      status: 'authorized',
      amount: 4_000,
      requested_amount: 10_000,
      response_code: '10',
      balances: [{ kind: 'available', account_type: '00', currency: 'BRL', amount: 0 }],
    })
    expect(await find(record.id)).toEqual(record)
    expect((await call(record.id, 'capture', { amount: 4_001 })).status).toBe(400)
    const { body } = await call(record.id, 'capture')
    expect(body).toMatchObject({ status: 'captured', captured_amount: 4_000 })
    expect(entryOf(body)).toMatchObject({ authorizedAmount: 4_000, capturedAmount: 4_000 })
  })

  test('is captured at once, and voided', async () => {
    const change = { accept_partial: true, capture: true }
    const record = await rig.authorize('tok_visa_partial', change)
    expect(record).toMatchObject({ status: 'captured', amount: 4_000, captured_amount: 4_000 })
    await call(record.id, 'void')
    expect(entryOf(await rig.settled(record.id))).toMatchObject({
      capturedAmount: 0,
      reversedAmount: 4_000,
    })
  })

  test('is taken back where the caller takes none', async () => {
    const { id } = await rig.authorize('tok_visa_partial')
    const record = await rig.settled(id)
    expect(record).toMatchObject({ status: 'declined', amount: 10_000, response_code: '10' })
    expect(entryOf(record)).toMatchObject({ authorizedAmount: 4_000, reversedAmount: 4_000 })
  })

  test('is wanted with true or false, and nothing else', async () => {
    const response = await rig.post(
      '/v1/transactions/authorize',
      authorizationBody('tok_visa_partial', { accept_partial: 'yes' }),
    )
    expect(response.status).toBe(400)
  })
})

describe('a verification', () => {
  const verify = async (token: string, on = rig, headers = {}) => {
    const { amount: _, ...body } = authorizationBody(token)
    const response = await on.post('/v1/transactions/verify', body, headers)
    return { status: response.status, body: (await response.json()) as Json, response }
  }

  test('asks about the card, and holds nothing', async () => {
    const { status, body } = await verify('tok_visa_approved')
    expect(status).toBe(201)
    expect(body).toMatchObject({ status: 'verified', amount: 0, response_code: '85' })
    const id = String(body['id'])
    for (const path of ['capture', 'void', 'refund']) {
      expect((await call(id, path)).status).toBe(409)
    }
    expect((await call(id, 'increment', { amount: 1 })).status).toBe(409)
    expect(entryOf(body)).toMatchObject({ authorizedAmount: 0, requests: 1 })
    const [row] = await rig.database.sql`
      select type, data from webhook_events where subject = ${id}`
    expect(row).toMatchObject({ type: 'card.transaction.verified' })
  })

  test('is declined for a bad card', async () => {
    const { status, body } = await verify('tok_visa_declined_14')
    expect([status, body]).toMatchObject([201, { status: 'declined', response_code: '14' }])
  })

  test('comes once for one key', async () => {
    const headers = { 'Idempotency-Key': 'verify-once' }
    const first = await verify('tok_visa_approved', rig, headers)
    const again = await verify('tok_visa_approved', rig, headers)
    expect(again.response.headers.get('Idempotent-Replayed')).toBe('true')
    expect(again.body).toEqual(first.body)
  })

  test('without an answer is over, and nothing is taken back', async () => {
    const { status, body } = await verify('tok_visa_timeout', hasty)
    expect([status, body]).toMatchObject([504, { error: { code: 'NETWORK_TIMEOUT' } }])
    const { error } = body as { error: { details: { transaction_id: string } } }
    const id = error.details.transaction_id
    expect(await hasty.settled(id)).toMatchObject({ status: 'voided', reason: 'timed_out' })
    expect(await hasty.reversalsOf(id)).toEqual([])
  })
})
