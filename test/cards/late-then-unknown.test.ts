import { expect, setDefaultTimeout, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { CardMessage } from '#codecs/iso8583'
import { authorizationBody, type CardsRig, cardsRigOfFile } from '../support/cards-rig.ts'
import { createScriptedNetwork, type Peer } from '../support/scripted-network.ts'
import { temporaryDirectory } from '../support/temporary.ts'
import { until } from '../support/until.ts'

/*
 * A network approves when the time is over, or something else than it was asked for, and then says to the reversal that
 * it does not know what it has approved.
 */

setDefaultTimeout(60_000)

const timing = { timeoutMs: 250, windowMs: 1_500, poolSize: 2 } as const
const network = createScriptedNetwork()
const rig = await cardsRigOfFile({ ...timing, networkA: network })
const file = join(temporaryDirectory(), 'messages.json')
writeFileSync(file, JSON.stringify({ content: { messages: { authorization: { mti: '0200' } } } }))
/** Its authorizations are sales. */
const sales = await cardsRigOfFile({
  ...timing,
  networkA: { port: network.port, stop: () => undefined },
  environment: { CARDGW_NETA_MESSAGES_FILE: file },
})

type Json = Readonly<Record<string, unknown>>

const endsOf = async (on: CardsRig, id: string) =>
  (
    await on.database.sql<{ reverses: string; status: string }[]>`
      select reverses, status from card_reversals where transaction_id = ${id} order by id`
  ).map(({ reverses, status }) => `${reverses} ${status}`)
const read = async (on: CardsRig, id: string) =>
  (await (await on.get(`/v1/transactions/${id}`)).json()) as Json
const idIn = (body: Json): string =>
  (body['error'] as { readonly details: { readonly transaction_id: string } }).details
    .transaction_id

/** Leaves those of `mti` without an answer, until a reversal comes: then it gives them this code, and knows none of them. */
const answeringLate = (mti: string, responseCode: string) => {
  let answer: (() => void) | undefined
  const late = (request: CardMessage, peer: Peer) => {
    const { stan, rrn, amount, terminalId, currency, transmissionDateTime } = request
    const kept = { stan, rrn, amount, terminalId, currency, transmissionDateTime }
    const type = mti === '0100' ? '0110' : '0210'
    return () => peer.answer({ ...kept, responseCode, authCode: 'A00001', mti: type })
  }
  network.on((request, peer) => {
    if (request.mti === mti) {
      answer = late(request, peer)
      return
    }
    if (request.mti === '0100') return peer.answer({ responseCode: '00', authCode: 'A00001' })
    answer?.()
    answer = undefined
    peer.answer({ responseCode: '25' })
  })
}

test('a refund needs a person, who may say that it stands', async () => {
  network.on((_, peer) => peer.answer({ responseCode: '00', authCode: 'A00001' }))
  const { id } = await rig.authorize('tok_visa_approved', { capture: true })
  answeringLate('0200', '00')
  expect((await rig.post(`/v1/transactions/${id}/refund`)).status).toBe(504)
  await until(async () => (await read(rig, id))['needs_attention'] === true)
  expect(await read(rig, id)).toMatchObject({ status: 'captured', operation: 'reversing_refund' })
  expect(await endsOf(rig, id)).toEqual(['refund expired'])
  const body = { outcome: 'refunded', reason: 'the network has it' }
  const resolved = await rig.app.call('POST', `/v1/transactions/${id}/resolve`, {
    key: rig.adminKey,
    body,
  })
  expect(resolved.status).toBe(200)
  expect(await read(rig, id)).toMatchObject({ status: 'captured', refunded_amount: 10_000 })
})

test('so does a capture', async () => {
  answeringLate('0200', '00')
  const { id } = await rig.authorize('tok_visa_approved')
  expect((await rig.post(`/v1/transactions/${id}/capture`)).status).toBe(504)
  await until(async () => (await read(rig, id))['needs_attention'] === true)
  expect(await read(rig, id)).toMatchObject({ operation: 'reversing_capture' })
  expect(await endsOf(rig, id)).toEqual(['capture expired'])
})

test('so does an authorization that is a sale', async () => {
  answeringLate('0200', '00')
  const response = await sales.post('/v1/transactions/authorize', {
    card_token: 'tok_visa_approved',
    amount: 10_000,
    currency: 'BRL',
    merchant_id: 'MERCHANT000001',
  })
  const id = idIn((await response.json()) as Json)
  await until(async () => (await read(sales, id))['needs_attention'] === true)
  expect(await endsOf(sales, id)).toEqual(['authorization expired'])
})

test('a late answer that approves nothing for certain asks for nobody', async () => {
  network.on((_, peer) => peer.answer({ responseCode: '00', authCode: 'A00001' }))
  const { id } = await rig.authorize('tok_visa_approved', { capture: true })
  answeringLate('0200', '91')
  expect((await rig.post(`/v1/transactions/${id}/refund`)).status).toBe(504)
  const record = await rig.settled(id)
  expect([record.status, record['needs_attention']]).toEqual(['captured', undefined])
  expect(await endsOf(rig, id)).toEqual(['refund confirmed'])
})

test('a hold that the network does not know any more is gone', async () => {
  answeringLate('0100', '00')
  const response = await rig.post('/v1/transactions/authorize', {
    card_token: 'tok_visa_approved',
    amount: 10_000,
    currency: 'BRL',
    merchant_id: 'MERCHANT000001',
  })
  const record = await rig.settled(idIn((await response.json()) as Json))
  expect([record.status, record['needs_attention']]).toEqual(['voided', undefined])
})

/** Answers those of `mti` so in time, and knows none of them when a reversal comes. */
const answeringOtherwise = (mti: string, answer: Partial<CardMessage>) =>
  network.on((request, peer) => {
    const isReversal = request.mti.startsWith('04')
    const approval = { responseCode: '00', authCode: 'A00001' }
    peer.answer(isReversal ? { responseCode: '25' } : request.mti === mti ? answer : approval)
  })

const part = { responseCode: '10', authCode: 'A00001', amount: '000000006000' } as const
const another = { responseCode: '00', authCode: 'A00001', amount: '000000006000' } as const

test.each([
  ['a part', part, 201],
  ['another amount', another, 502],
])('so does a sale of which %s was approved in time', async (_, answer, status) => {
  answeringOtherwise('0200', answer)
  const response = await sales.post(
    '/v1/transactions/authorize',
    authorizationBody('tok_visa_approved'),
  )
  expect(response.status).toBe(status)
  const body = (await response.json()) as Json
  const id = status === 201 ? String(body['id']) : idIn(body)
  await until(async () => (await read(sales, id))['needs_attention'] === true)
  expect(await endsOf(sales, id)).toEqual(['authorization expired'])
})

test.each([
  ['capture', part, 422],
  ['capture', another, 502],
  ['refund', part, 422],
])('so does a %s that was approved otherwise in time: %p', async (path, answer, status) => {
  network.on((_, peer) => peer.answer({ responseCode: '00', authCode: 'A00001' }))
  const { id } = await rig.authorize('tok_visa_approved', { capture: path === 'refund' })
  answeringOtherwise('0200', answer)
  expect((await rig.post(`/v1/transactions/${id}/${path}`)).status).toBe(status)
  await until(async () => (await read(rig, id))['needs_attention'] === true)
  expect(await read(rig, id)).toMatchObject({ operation: `reversing_${path}` })
  expect(await endsOf(rig, id)).toEqual([`${path} expired`])
})

test.each([
  ['08 says nothing for certain', { responseCode: '08' }],
  ['a part of a hold', part],
])('but not what is gone in any case: %s', async (_, answer) => {
  answeringOtherwise('0100', answer)
  const { id } = await rig.authorize('tok_visa_approved')
  const record = await rig.settled(id)
  expect([record.status, record['needs_attention']]).toEqual(['declined', undefined])
  expect(await endsOf(rig, id)).toEqual(['authorization confirmed'])
})

test.each(['capture', 'refund'])(
  'nor does a %s ask for anybody that comes late, where its reversal was confirmed before',
  async (path) => {
    network.on((_, peer) => peer.answer({ responseCode: '00', authCode: 'A00001' }))
    const { id } = await rig.authorize('tok_visa_approved', { capture: path === 'refund' })
    let tell: (() => void) | undefined
    network.on(({ mti, stan, rrn }, peer) => {
      if (mti === '0200') {
        tell = () => peer.answer({ stan, rrn, mti: '0210', responseCode: '00', authCode: 'A00001' })
        return
      }
      peer.answer({ responseCode: mti === '0400' ? '00' : '25' })
    })
    expect((await rig.post(`/v1/transactions/${id}/${path}`)).status).toBe(504)
    await rig.settled(id)
    tell?.()
    const repeats = () => network.seen.filter(({ mti }) => mti === '0401').length
    const before = repeats()
    // At once, and when the original can no longer be on its way.
    await until(() => repeats() === before + 2)
    const record = await rig.settled(id)
    expect(record['needs_attention']).toBeUndefined()
    expect(await endsOf(rig, id)).toEqual([`${path} confirmed`])
  },
)

test.each([
  ['answered', 200, []],
  ['not answered', 504, ['void confirmed']],
])(
  'a late capture of a payment whose void was %s is taken back, and no other twice',
  async (_, status, ofVoid) => {
    const ok = { responseCode: '00', authCode: 'A00001' }
    network.on((_, peer) => peer.answer(ok))
    const { id } = await rig.authorize('tok_visa_approved')
    const capture = async (amount: number) =>
      (await rig.post(`/v1/transactions/${id}/capture`, { amount, final: false })).status
    expect(await capture(1_000)).toBe(200)
    let tell: (() => void) | undefined
    network.on(({ mti, stan, rrn }, peer) => {
      if (mti === '0200') tell = () => peer.answer({ ...ok, stan, rrn, mti: '0210' })
      else peer.answer(ok)
    })
    expect(await capture(2_000)).toBe(504)
    await rig.settled(id)
    network.on((_, peer) => peer.answer(ok))
    expect(await capture(3_000)).toBe(200)
    network.on(({ mti }, peer) => {
      if (mti !== '0400' || status === 200) peer.answer(ok)
    })
    expect((await rig.post(`/v1/transactions/${id}/void`)).status).toBe(status)
    network.on((_, peer) => peer.answer(ok))
    const ofAll = ['capture confirmed', ...ofVoid, 'capture confirmed', 'authorization confirmed']
    await until(async () => Bun.deepEquals(await endsOf(rig, id), ofAll))
    tell?.()
    // The hold beneath it stands again.
    await until(async () => (await endsOf(rig, id)).length > ofAll.length)
    expect((await rig.settled(id)).status).toBe('voided')
    expect(await endsOf(rig, id)).toEqual([...ofAll, 'authorization confirmed'])
  },
)
