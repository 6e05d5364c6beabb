import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { changed } from '../../src/cards/transactions/changes.ts'
import { transactionById } from '../../src/cards/transactions/store.ts'
import { changeTransactions } from '../../src/cards/transactions/writes.ts'
import { createStandIn, type StandIn } from '../support/stand-in.ts'
import { until } from '../support/until.ts'

/* What asks for a person goes on asking until one has seen to it, whatever else of the payment ends meanwhile. */

setDefaultTimeout(60_000)

let network: StandIn['network']
let rig: StandIn['rig']
let away: StandIn['away']
beforeAll(async () => {
  ;({ network, rig, away } = await createStandIn(['authorization']))
})
afterAll(() => rig[Symbol.asyncDispose]())

type Json = Readonly<Record<string, unknown>>

const read = async (id: string) => (await (await rig.get(`/v1/transactions/${id}`)).json()) as Json
const ask = async (id: string, path: string, body: Json) =>
  (await rig.post(`/v1/transactions/${id}/${path}`, body)).status
const resolve = (id: string, outcome: string) =>
  rig.app.call('POST', `/v1/transactions/${id}/resolve`, {
    key: rig.adminKey,
    body: { outcome, reason: 'The network desk says so' },
  })
const untilAsked = (id: string) => until(async () => (await read(id))['needs_attention'] === true)

test('a void that was overtaken asks on while something later is taken back', async () => {
  let done: (() => void) | undefined
  network.on((request, peer) => {
    const { mti, stan = '', rrn = '', amount = '' } = request
    const isRefused = mti === '0400' && done === undefined
    if (isRefused) done = () => peer.answer({ stan, rrn, amount, responseCode: '00' })
    peer.answer({ responseCode: isRefused ? '57' : '00', authCode: 'A00001' })
  })
  const { id } = await rig.authorize('tok_visa_approved')
  expect(await ask(id, 'void', { amount: 3_000 })).toBe(422)
  expect(await ask(id, 'increment', { amount: 500 })).toBe(200)
  done?.()
  await untilAsked(id)
  const isUndecided = (mti: string) => mti === '0100'
  network.on(({ mti }, peer) => peer.answer({ responseCode: isUndecided(mti) ? '96' : '00' }))
  expect(await ask(id, 'increment', { amount: 700 })).toBe(422)
  expect(await rig.settled(id)).toMatchObject({
    status: 'authorized',
    amount: 10_500,
    needs_attention: true,
  })
  // Once somebody has seen to it, it asks no more.
  expect((await resolve(id, 'authorized')).status).toBe(200)
  expect(await ask(id, 'increment', { amount: 900 })).toBe(422)
  expect((await rig.settled(id))['needs_attention']).toBeUndefined()
})

test('what was sold while the network was away and refused by it asks on when it says yes later', async () => {
  let late: (() => void) | undefined
  network.on((request, peer) => {
    const { mti, stan = '', rrn = '', amount = '' } = request
    if (mti === '0120')
      late = () => peer.answer({ mti: '0130', stan, rrn, amount, responseCode: '00' })
    peer.answer({ responseCode: mti === '0120' ? '51' : '00' })
  })
  await away(true)
  const { id } = await rig.authorize('tok_visa_approved')
  await away(false)
  const refused = { status: 'declined', reason: 'advice_refused', needs_attention: true }
  expect(await rig.settled(id)).toMatchObject(refused)
  late?.()
  await until(async () => network.seen.at(-1)?.mti === '0400')
  expect(await rig.settled(id)).toMatchObject(refused)
})

test('what was sold while the network was away, and is declined by a person, is taken back when the network says yes later', async () => {
  await away(true)
  const { id, stan, rrn } = await rig.authorize('tok_visa_approved')
  await rig.database.sql`
    update card_reversals set created_at = now() - interval '24 hours' where transaction_id = ${id}`
  await untilAsked(id)
  expect((await resolve(id, 'declined')).status).toBe(200)
  network.on((_, peer) => peer.answer({ responseCode: '00' }))
  await away(false)
  const numbers = { stan: String(stan), rrn: String(rrn), amount: '000000010000' }
  network.tell({ mti: '0130', ...numbers, responseCode: '00' })
  await until(async () => network.seen.some((one) => one.mti === '0400' && one.rrn === rrn))
  expect(await rig.settled(id)).toMatchObject({ status: 'declined', reason: 'advice_refused' })
})

test('a step that was read before a person was asked for leaves that as it is', async () => {
  const { sql } = rig.database
  const { id } = await rig.authorize('tok_mastercard_approved')
  const before = await transactionById(sql, id)
  if (before === undefined) throw new Error('it is not stored')
  await sql`update card_transactions set needs_attention = true where id = ${id}`
  const begun = changed(before, 'increment_started', { operationStan: '000001' }, new Date())
  const step = { before, after: begun, events: [] }
  expect(await changeTransactions(sql, [step], undefined)).toEqual([true])
  const after = changed(begun, 'increment_refused', {}, new Date())
  expect(await changeTransactions(sql, [{ before: begun, after, events: [] }], undefined)).toEqual([
    true,
  ])
  expect(await read(id)).toMatchObject({ status: 'authorized', needs_attention: true })
})
