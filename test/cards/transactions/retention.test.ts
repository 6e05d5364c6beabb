import { expect, test } from 'bun:test'
import { createRetention } from '../../../src/cards/transactions/retention.ts'
import { cardsRigOfFile } from '../../support/cards-rig.ts'
import { quietLogger } from '../../support/database.ts'

const rig = await cardsRigOfFile()

const days = 400
const dayMs = 86_400_000
const sweepAfter = (ageMs: number) =>
  createRetention({
    days: days - ageMs / dayMs,
    sql: rig.database.sql,
    logger: quietLogger,
  }).sweep()
const statusOf = async (id: string) => (await rig.get(`/v1/transactions/${id}`)).status
const rowsOf = async (id: string) =>
  rig.database.sql`
    select 1 from card_events where transaction_id = ${id}
    union all select 2 from card_reversals where transaction_id = ${id}`

test('what is over and old is forgotten with its events; what still waits for something stays', async () => {
  const over = await rig.authorize('tok_visa_approved', { capture: true })
  const declined = await rig.authorize('tok_visa_declined_51')
  const [pending, underWay, attention, changed] = await Promise.all(
    Array.from({ length: 4 }, async () => (await rig.authorize('tok_visa_approved')).id),
  )
  const voided = await rig.post('/v1/transactions/authorize', {
    card_token: 'tok_visa_drop',
    amount: 100,
    currency: 'BRL',
    merchant_id: 'M',
  })
  const { error } = (await voided.json()) as { error: { details: { transaction_id: string } } }
  const reversed = await rig.settled(error.details.transaction_id)
  const { sql } = rig.database
  await sql`update card_transactions set status = 'pending' where id = ${pending ?? ''}`
  await sql`update card_transactions set operation = 'capture' where id = ${underWay ?? ''}`
  await sql`update card_transactions set needs_attention = true where id = ${attention ?? ''}`
  await sql`update card_transactions set updated_at = now() + interval '1 day' where id = ${changed ?? ''}`
  expect(await sweepAfter(days * dayMs - 60_000)).toBe(0)
  expect(await sweepAfter(days * dayMs + 60_000)).toBe(3)
  for (const { id } of [over, declined, reversed]) {
    expect(await statusOf(id)).toBe(404)
    expect(await rowsOf(id)).toHaveLength(0)
  }
  for (const id of [pending, underWay, attention, changed]) {
    expect(await statusOf(id ?? '')).toBe(200)
    expect((await rowsOf(id ?? '')).length).toBeGreaterThan(0)
  }
})

test('an old capture is still voided, and a forgotten one repeats the answers of its keys', async () => {
  const headers = { 'Idempotency-Key': 'void-before' }
  const { id } = await rig.authorize('tok_visa_approved', { capture: true })
  expect(await sweepAfter(days * dayMs - 60_000)).toBe(0)
  const first = await rig.post(`/v1/transactions/${id}/void`, undefined, headers)
  const text = await first.text()
  expect(first.status).toBe(200)
  await rig.settled(id)
  await sweepAfter(days * dayMs + 60_000)
  expect(await statusOf(id)).toBe(404)
  const again = await rig.post(`/v1/transactions/${id}/void`, undefined, headers)
  expect([again.status, await again.text()]).toEqual([200, text])
})
