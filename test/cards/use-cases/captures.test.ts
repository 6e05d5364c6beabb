import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import { eventGroups } from '#src/events/index.ts'
import { capturesMax } from '../../../src/cards/transactions/domain.ts'
import { type CardRecord, cardsRigOfFile } from '../../support/cards-rig.ts'
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
const part = (id: string, amount: number, on = rig) =>
  call(id, 'capture', { amount, final: false }, on)
const entryOf = (record: Json, from = rig) =>
  from.simulators[0].book().find(({ rrn }) => rrn === record['rrn'])
const find = async (id: string, on = rig) =>
  (await (await on.get(`/v1/transactions/${id}`)).json()) as CardRecord

describe('captures in parts', () => {
  test('leave the rest open until the final one', async () => {
    const { id } = await rig.authorize('tok_visa_approved')
    expect(await part(id, 3_000)).toMatchObject({
      status: 200,
      body: { status: 'authorized', amount: 10_000, captured_amount: 3_000 },
    })
    expect((await part(id, 2_000)).body).toMatchObject({ captured_amount: 5_000 })
    expect(await part(id, 5_001)).toMatchObject({
      status: 400,
      body: { error: { code: 'AMOUNT_EXCEEDS_AUTHORIZED' } },
    })
    const last = await call(id, 'capture', { amount: 1_000 })
    expect(last.body).toMatchObject({ status: 'captured', captured_amount: 6_000 })
    expect(entryOf(last.body)).toMatchObject({ capturedAmount: 6_000, reversedAmount: 0 })
    expect((await part(id, 1)).status).toBe(409)
  })

  test('are over when nothing is left', async () => {
    const { id } = await rig.authorize('tok_visa_approved')
    await part(id, 4_000)
    expect((await part(id, 6_000)).body).toMatchObject({ status: 'captured' })
    const { id: other } = await rig.authorize('tok_visa_approved')
    await part(other, 4_000)
    const whole = await call(other, 'capture')
    expect(whole.body).toMatchObject({ status: 'captured', captured_amount: 10_000 })
  })

  test('that come at the same time are together never more than the authorization', async () => {
    const { id } = await rig.authorize('tok_visa_approved')
    const answers = await Promise.all(Array.from({ length: 16 }, () => part(id, 3_000)))
    for (let more = 0; more < 4; more++) answers.push(await part(id, 3_000))
    expect(answers.every(({ status }) => [200, 400, 409].includes(status))).toBe(true)
    const record = await find(id)
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(3)
    expect(record['captured_amount']).toBe(9_000)
    expect(entryOf(record)).toMatchObject({ capturedAmount: 9_000 })
  })

  test('may be given back while more is to come', async () => {
    const { id } = await rig.authorize('tok_visa_approved')
    expect((await call(id, 'refund', { amount: 1 })).status).toBe(409)
    await part(id, 4_000)
    expect((await call(id, 'refund', { amount: 4_001 })).status).toBe(400)
    const back = await call(id, 'refund', { amount: 1_500 })
    expect(back.body).toMatchObject({ status: 'authorized', refunded_amount: 1_500 })
    const { body } = await part(id, 6_000)
    expect(body).toMatchObject({ status: 'captured', captured_amount: 10_000 })
    expect(entryOf(body)).toMatchObject({ capturedAmount: 10_000, refundedAmount: 1_500 })
  })

  test('are all taken back by a void, each by a reversal of its own', async () => {
    const { id } = await rig.authorize('tok_visa_approved')
    for (const amount of [1_000, 2_000, 3_000]) await part(id, amount)
    expect((await call(id, 'void')).body).toMatchObject({ status: 'voided' })
    const record = await rig.settled(id)
    expect(record).toMatchObject({ status: 'voided' })
    expect(entryOf(record)).toMatchObject({ capturedAmount: 0, reversedAmount: 10_000 })
    expect(
      (await rig.reversalsOf(id)).map(({ reverses, amount_cents }) => [reverses, amount_cents]),
    ).toEqual([
      ['capture', 1_000n],
      ['capture', 2_000n],
      ['authorization', 10_000n],
    ])
  })

  test('end when the rest is voided', async () => {
    const { id } = await rig.authorize('tok_visa_approved')
    await part(id, 4_000)
    expect((await call(id, 'void', { amount: 6_001 })).status).toBe(400)
    const some = await call(id, 'void', { amount: 2_000 })
    expect(some.body).toMatchObject({ status: 'authorized', reversed_amount: 2_000 })
    const rest = await call(id, 'void', { amount: 4_000 })
    expect(rest.body).toMatchObject({
      status: 'captured',
      captured_amount: 4_000,
      reversed_amount: 6_000,
    })
    expect(entryOf(rest.body)).toMatchObject({ capturedAmount: 4_000, reversedAmount: 6_000 })
    expect((await call(id, 'refund')).body).toMatchObject({ refunded_amount: 4_000 })
  })

  test('whose outcome nobody knows are taken back alone', async () => {
    const { id } = await hasty.authorize('tok_visa_approved')
    await part(id, 1_000, hasty)
    // 9902KK cents: acted on and not answered.
    const { id: silent } = await hasty.authorize('tok_visa_approved', { amount: 2_000_000 })
    await part(silent, 5_000, hasty)
    expect((await part(silent, 990_200, hasty)).status).toBe(504)
    const record = await hasty.settled(silent)
    expect(record).toMatchObject({
      status: 'authorized',
      captured_amount: 5_000,
      capture_error: 'timed_out',
    })
    expect(entryOf(record, hasty)).toMatchObject({ capturedAmount: 5_000 })
    expect((await call(silent, 'capture', undefined, hasty)).body).toMatchObject({
      status: 'captured',
      captured_amount: 2_000_000,
    })
  })

  test('are as many as a void can take back', async () => {
    const { id } = await rig.authorize('tok_visa_approved')
    await part(id, 1)
    const earlier = Array.from({ length: capturesMax - 3 }, (_, at) => ({
      stan: String(at).padStart(6, '0'),
      transmission: '0101000000',
      cents: 1,
    }))
    await rig.database.sql`
      update card_transactions set captures = ${rig.database.sql.json(earlier)},
        captured_cents = ${capturesMax - 2} where id = ${id}`
    expect(await part(id, 1)).toMatchObject({ status: 200 })
    expect(await part(id, 1)).toMatchObject({
      status: 409,
      body: { error: { code: 'INVALID_STATE' } },
    })
    const { body } = await call(id, 'capture', { amount: 1 })
    expect(body).toMatchObject({ status: 'captured', captured_amount: capturesMax })
  })

  test('are told to subscribers', async () => {
    const { id } = await rig.authorize('tok_visa_approved')
    await part(id, 4_000)
    await call(id, 'capture')
    const rows = await rig.database.sql<{ type: string; data: string }[]>`
      select type, data from webhook_events where subject = ${id} order by sequence`
    expect(rows.map(({ type }) => type)).toEqual([
      'card.transaction.authorized',
      'card.transaction.partially_captured',
      'card.transaction.captured',
    ])
    expect(eventGroups.cards.payload.parse(JSON.parse(rows[1]?.data ?? ''))).toMatchObject({
      status: 'authorized',
      captured_amount: 4_000,
    })
  })
})

test('final is true or false, and nothing else', async () => {
  const { id } = await rig.authorize('tok_visa_approved')
  for (const final of ['false', 0, null]) {
    expect((await call(id, 'capture', { final })).status).toBe(400)
  }
})
