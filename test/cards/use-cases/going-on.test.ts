import { expect, setDefaultTimeout, test } from 'bun:test'
import { join } from 'node:path'
import { type Network, parseNetwork } from '../../../src/cards/networks/index.ts'
import type { CardTransaction } from '../../../src/cards/transactions/store.ts'
import { orGoingOn } from '../../../src/cards/use-cases/going-on.ts'
import { until } from '../../support/card-network.ts'
import {
  authorizationBody,
  type CardRecord,
  cardsRigOfFile,
  createCardsRig,
} from '../../support/cards-rig.ts'
import { createScriptedNetwork, type ScriptedNetwork } from '../../support/scripted-network.ts'
import { temporaryDirectory } from '../../support/temporary.ts'
import { subscribe } from '../../support/webhooks.ts'

setDefaultTimeout(60_000)

/* What a network's rules let go on while it is away is stored, and told to it until it has taken or refused it. */

const rules = {
  operations: ['authorization', 'capture', 'refund', 'void'],
  floor_limits: { BRL: 10_000 },
}
const environment = async () => {
  const path = join(temporaryDirectory(), 'messages.json')
  await Bun.write(path, JSON.stringify({ advices: rules }))
  return { CARDGW_NETA_MESSAGES_FILE: path, CARDGW_NETA_CONNECT_WAIT_MS: '0' }
}

const rig = await cardsRigOfFile({ environment: await environment() })

/** The network signs off, or on again. */
const away = async (
  isAway: boolean,
  one = rig,
  network: Pick<ScriptedNetwork, 'ask'> = rig.simulators[0],
): Promise<void> => {
  network.ask(isAway ? '002' : '001')
  const isDown = (): boolean => one.networks.byName('neta')?.health().connectionsUp === 0
  await until(() => isDown() === isAway, 'the network being away or back')
}

const read = async (id: string, one = rig) =>
  (await (await one.get(`/v1/transactions/${id}`)).json()) as CardRecord

const json = async (response: Response) => ({
  status: response.status,
  body: (await response.json()) as CardRecord,
})

const entryOf = ({ rrn }: CardRecord) => rig.simulators[0].book().find((one) => one.rrn === rrn)

type Waiting = { readonly transaction_id: string; readonly advises: string }

const waiting = async (): Promise<readonly Waiting[]> => {
  const page = (await (await rig.get('/v1/transactions/advices')).json()) as {
    readonly advices: readonly Waiting[]
  }
  return page.advices
}

test('what is captured, given back and voided while the network is away reaches it once', async () => {
  const whole = await rig.authorize('tok_visa_approved')
  const part = await rig.authorize('tok_visa_approved')
  const captured = await rig.authorize('tok_visa_approved', { capture: true })
  const held = await rig.authorize('tok_visa_approved')
  const before = rig.simulators[0].statistics().received['0220'] ?? 0
  await away(true)
  const path = `/v1/transactions/${whole.id}/capture`
  const key = { 'Idempotency-Key': 'away' }
  const first = await rig.post(path, undefined, key)
  const again = await rig.post(path, undefined, key)
  expect(await again.text()).toBe(await first.clone().text())
  expect(await json(first)).toMatchObject({
    status: 202,
    body: { status: 'authorized', operation: 'advising_capture' },
  })
  expect((await rig.post(path)).status).toBe(409)
  for (const [id, what, body, operation] of [
    [part.id, 'capture', { amount: 3_000, final: false }, 'advising_partial_capture'],
    [captured.id, 'refund', { amount: 4_000 }, 'advising_refund'],
    [held.id, 'void', undefined, 'reversing_void'],
  ] as const) {
    const told = await json(await rig.post(`/v1/transactions/${id}/${what}`, body))
    expect(told).toMatchObject({ status: 202, body: { operation } })
    expect(told.body['captured_amount']).toBe(id === captured.id ? 10_000 : undefined)
  }
  expect(await waiting()).toMatchObject([
    { transaction_id: whole.id, advises: 'capture', amount: 10_000, currency: 'BRL', attempts: 0 },
    { transaction_id: part.id, advises: 'partial_capture', amount: 3_000 },
    { transaction_id: captured.id, advises: 'refund', amount: 4_000 },
  ])
  expect(await (await rig.get('/v1/transactions/reversals')).json()).toMatchObject({
    reversals: [{ transaction_id: held.id, reverses: 'void', currency: 'BRL' }],
  })
  await away(false)
  const settled = await Promise.all([whole, part, captured, held].map(({ id }) => rig.settled(id)))
  expect(settled).toMatchObject([
    { status: 'captured', captured_amount: 10_000 },
    { status: 'authorized', captured_amount: 3_000 },
    { status: 'captured', refunded_amount: 4_000 },
    { status: 'voided' },
  ])
  expect(entryOf(whole)).toMatchObject({ capturedAmount: 10_000, requests: 1 })
  expect(entryOf(part)).toMatchObject({ capturedAmount: 3_000 })
  expect(entryOf(captured)).toMatchObject({ refundedAmount: 4_000 })
  expect(entryOf(held)).toMatchObject({ reversedAmount: 10_000 })
  expect(rig.simulators[0].statistics().received['0220']).toBe(before + 3)
  expect(await waiting()).toEqual([])
  expect((await rig.post(`/v1/transactions/${part.id}/void`)).status).toBe(200)
  await rig.settled(part.id)
  expect(entryOf(part)).toMatchObject({ capturedAmount: 0, reversedAmount: 10_000 })
})

test('an authorization up to the limit is approved in place of the network, and one above is not', async () => {
  await away(true)
  const post = async (token: string, change = {}) =>
    json(await rig.post('/v1/transactions/authorize', authorizationBody(token, change)))
  const approved = (await post('tok_visa_approved')).body
  const refused = (await post('tok_visa_declined_51')).body
  const sold = (await post('tok_visa_approved', { capture: true })).body
  const lost = (await post('tok_visa_declined_51', { capture: true })).body
  for (const one of [sold, lost]) {
    expect(one).toMatchObject({ status: 'authorized', operation: 'advising_capture' })
  }
  const above = await post('tok_visa_approved', { amount: 10_001 })
  const dollars = await post('tok_visa_approved', { currency: 'USD' })
  const elsewhere = await post('tok_mastercard_approved', { capture: true })
  expect(elsewhere.body).toMatchObject({ status: 'captured' })
  for (const one of [above, dollars]) {
    expect(one).toMatchObject({ status: 502, body: { error: { details: { sent: false } } } })
  }
  for (const one of [approved, refused]) {
    expect(one).toMatchObject({
      status: 'authorized',
      stand_in: true,
      response_code: '00',
      operation: 'advising_authorization',
      auth_code: one['stan'],
    })
    expect(entryOf(one)).toBeUndefined()
  }
  await away(false)
  expect(await rig.settled(approved.id)).toMatchObject({ status: 'authorized', stand_in: true })
  expect(entryOf(approved)).toMatchObject({ mti: '0120', authorizedAmount: 10_000, requests: 1 })
  expect(await rig.settled(refused.id)).toMatchObject({
    status: 'declined',
    reason: 'advice_refused',
    response_code: '51',
    auth_code: '',
    needs_attention: true,
  })
  expect(await rig.settled(sold.id)).toMatchObject({ status: 'captured', captured_amount: 10_000 })
  expect(entryOf(sold)).toMatchObject({ mti: '0120', capturedAmount: 10_000, requests: 1 })
  expect(await rig.settled(lost.id)).toMatchObject({ status: 'declined', needs_attention: true })
  expect(entryOf(lost)).toMatchObject({ authorizedAmount: 0, capturedAmount: 0 })
  expect(await waiting()).toEqual([])
  const captured = await rig.post(`/v1/transactions/${approved.id}/capture`, { amount: 6_000 })
  expect(captured.status).toBe(200)
  expect((await rig.post(`/v1/transactions/${approved.id}/void`)).status).toBe(200)
  await rig.settled(approved.id)
  expect(entryOf(approved)).toMatchObject({ capturedAmount: 0, reversedAmount: 10_000 })
})

test('what follows an authorization in place of the network is told behind it', async () => {
  await away(true)
  const records: CardRecord[] = []
  for (const token of [
    ...(['tok_visa_approved', 'tok_visa_approved', 'tok_visa_approved'] as const),
    ...(['tok_visa_declined_51', 'tok_visa_declined_51'] as const),
    ...(['tok_visa_approved', 'tok_visa_declined_51', 'tok_visa_approved'] as const),
  ]) {
    records.push(await rig.authorize(token))
  }
  const [sold, part, held, lost, dropped, less, nothing, undone] = records as [
    CardRecord,
    CardRecord,
    CardRecord,
    CardRecord,
    CardRecord,
    CardRecord,
    CardRecord,
    CardRecord,
  ]
  const key = { 'Idempotency-Key': 'behind' }
  const post = ({ id }: CardRecord, what: string, body?: unknown, headers = {}) =>
    rig.post(`/v1/transactions/${id}/${what}`, body, headers)
  const first = await post(sold, 'capture', undefined, key)
  expect(await (await post(sold, 'capture', undefined, key)).text()).toBe(
    await first.clone().text(),
  )
  expect(await json(first)).toMatchObject({ status: 202, body: { operation: 'advising_capture' } })
  for (const [one, what, body, operation] of [
    [part, 'capture', { amount: 3_000, final: false }, 'advising_partial_capture'],
    [held, 'void', undefined, 'reversing_void'],
    [lost, 'capture', { amount: 1_000, final: false }, 'advising_partial_capture'],
    [dropped, 'void', undefined, 'reversing_void'],
    [less, 'void', { amount: 4_000 }, 'reversing_partial_void'],
    [nothing, 'void', { amount: 4_000 }, 'reversing_partial_void'],
    [undone, 'capture', undefined, 'advising_capture'],
  ] as const) {
    expect(await json(await post(one, what, body))).toMatchObject({
      status: 202,
      body: { status: 'authorized', operation },
    })
    // What comes after that depends on its end.
    expect((await post(one, 'refund')).status).toBe(409)
  }
  // But a void takes it back in any case.
  expect((await post(undone, 'void')).status).toBe(202)
  const above = rig.authorize('tok_visa_approved')
  expect((await post(await above, 'capture', { amount: 10_001 })).status).toBe(400)
  expect((await post(await above, 'refund')).status).toBe(409)
  expect((await post(await above, 'increment', { amount: 1 })).status).toBe(409)
  await away(false)
  expect(await Promise.all(records.map(({ id }) => rig.settled(id)))).toMatchObject([
    { status: 'captured', captured_amount: 10_000 },
    { status: 'authorized', captured_amount: 3_000 },
    { status: 'voided' },
    { status: 'declined', reason: 'advice_refused', needs_attention: true },
    { status: 'voided' },
    { status: 'authorized', reversed_amount: 4_000 },
    { status: 'declined', reason: 'advice_refused', needs_attention: true },
    { status: 'voided' },
  ])
  expect(entryOf(less)).toMatchObject({ mti: '0120', reversedAmount: 4_000 })
  expect(entryOf(nothing)).toMatchObject({ authorizedAmount: 0, reversedAmount: 0 })
  expect(entryOf(undone)).toMatchObject({ capturedAmount: 0, reversedAmount: 10_000 })
  expect(entryOf(sold)).toMatchObject({ mti: '0120', capturedAmount: 10_000, requests: 1 })
  expect(entryOf(part)).toMatchObject({ mti: '0120', capturedAmount: 3_000, requests: 1 })
  expect(entryOf(held)).toMatchObject({ mti: '0120', reversedAmount: 10_000, capturedAmount: 0 })
  expect(entryOf(lost)).toMatchObject({ authorizedAmount: 0, capturedAmount: 0 })
  expect(entryOf(dropped)).toMatchObject({ authorizedAmount: 0, capturedAmount: 0 })
  await rig.settled((await above).id)
})

test('a void behind a capture that waits takes back both, whatever the network says of the capture', async () => {
  await subscribe(rig.database.sql, ['card.transaction.*'])
  const whole = await rig.authorize('tok_visa_approved')
  const refused = await rig.authorize('tok_visa_capture_declined')
  const part = await rig.authorize('tok_visa_approved')
  const second = await rig.authorize('tok_visa_approved')
  const given = await rig.authorize('tok_visa_approved', { capture: true })
  const ofPart = { amount: 3_000, final: false }
  expect((await rig.post(`/v1/transactions/${second.id}/capture`, ofPart)).status).toBe(200)
  await away(true)
  for (const [{ id }, body] of [[whole], [refused], [part, ofPart], [second, ofPart]] as const) {
    expect((await rig.post(`/v1/transactions/${id}/capture`, body)).status).toBe(202)
    expect((await rig.post(`/v1/transactions/${id}/capture`)).status).toBe(409)
    // Somebody is needed for something else.
    await rig.database.sql`update card_transactions set needs_attention = true where id = ${id}`
    const key = { 'Idempotency-Key': `void ${id}` }
    const first = await rig.post(`/v1/transactions/${id}/void`, undefined, key)
    const again = await rig.post(`/v1/transactions/${id}/void`, undefined, key)
    expect(await again.text()).toBe(await first.clone().text())
    expect(await json(first)).toMatchObject({
      status: 202,
      body: { operation: 'reversing_void' },
    })
    expect((await rig.post(`/v1/transactions/${id}/void`)).status).toBe(409)
  }
  expect((await rig.post(`/v1/transactions/${given.id}/refund`, { amount: 1 })).status).toBe(202)
  expect((await rig.post(`/v1/transactions/${given.id}/void`)).status).toBe(409)
  const stands = await rig.authorize('tok_visa_approved')
  expect((await rig.post(`/v1/transactions/${stands.id}/capture`)).status).toBe(202)
  // As if its time were over.
  const turn = (status: string) => rig.database.sql`
    update card_reversals set status = ${status} where transaction_id = ${stands.id}`
  await turn('expired')
  expect((await rig.post(`/v1/transactions/${stands.id}/void`)).status).toBe(409)
  await turn('pending')
  await away(false)
  for (const one of [whole, refused, part, second]) {
    const record = await rig.settled(one.id)
    expect(record).toMatchObject({ status: 'voided' })
    expect(record['needs_attention']).toBeUndefined()
    expect(entryOf(one)).toMatchObject({ capturedAmount: 0, reversedAmount: 10_000 })
  }
  const sent = await rig.database.sql`
    select reverses, original_mti, status from card_reversals
    where transaction_id = ${second.id} order by id`
  expect(sent).toMatchObject([
    { reverses: 'partial_capture_advice', status: 'confirmed' },
    { reverses: 'void', original_mti: '0220', status: 'confirmed' },
    { reverses: 'capture', original_mti: '0200', status: 'confirmed' },
    { reverses: 'authorization', original_mti: '0100', status: 'confirmed' },
  ])
  const notes = await rig.database.sql`
    select type, exchange::json -> 0 ->> 'mti' as asked, exchange::json -> 1 ->> 'mti' as answered
    from card_events where type like 'advice_%'
      and transaction_id in (${whole.id}, ${refused.id}) order by transaction_id`
  expect(notes).toMatchObject([
    { type: 'advice_confirmed', asked: '0220', answered: '0230' },
    { type: 'advice_refused', answered: '0230' },
  ])
  const told = await rig.database.sql`
    select type from webhook_events where subject in (${whole.id}, ${refused.id}) order by subject, sequence`
  expect(told.map(({ type }) => type)).toEqual(
    Array(2).fill(['card.transaction.authorized', 'card.transaction.voided']).flat(),
  )
  expect(await rig.settled(stands.id)).toMatchObject({ status: 'captured' })
  expect(await rig.settled(given.id)).toMatchObject({ status: 'captured', refunded_amount: 1 })
})

test('a capture or refund that the network refuses afterwards leaves what was there before', async () => {
  const capture = await rig.authorize('tok_visa_capture_declined')
  const refund = await rig.authorize('tok_visa_refund_declined', { capture: true })
  await away(true)
  expect((await rig.post(`/v1/transactions/${capture.id}/capture`)).status).toBe(202)
  expect((await rig.post(`/v1/transactions/${refund.id}/refund`)).status).toBe(202)
  await away(false)
  expect(await rig.settled(capture.id)).toMatchObject({
    status: 'authorized',
    capture_error: 'declined_05',
  })
  expect(await rig.settled(refund.id)).toMatchObject({
    status: 'captured',
    refund_error: 'declined_05',
    captured_amount: 10_000,
  })
  expect((await read(refund.id))['refunded_amount']).toBeUndefined()
  const ended = await rig.database.sql`
    select reverses, status from card_reversals
    where transaction_id in (${capture.id}, ${refund.id}) order by id`
  expect(ended).toMatchObject([
    { reverses: 'capture_advice', status: 'refused' },
    { reverses: 'refund_advice', status: 'refused' },
  ])
})

test('an advice is repeated with its numbers until the network says what became of it', async () => {
  const network = createScriptedNetwork()
  await using lonely = await createCardsRig({
    networkA: network,
    environment: await environment(),
    timeoutMs: 100,
  })
  network.on((_, peer) => peer.answer({ responseCode: '00', authCode: 'A00001' }))
  const { id, rrn } = await lonely.authorize('tok_visa_approved')
  await away(true, lonely, network)
  expect((await lonely.post(`/v1/transactions/${id}/capture`)).status).toBe(202)
  const codes = [undefined, '96', '08', '94']
  network.on(({ mti }, peer) => {
    const responseCode = mti.startsWith('02') ? codes.shift() : '00'
    if (responseCode !== undefined) peer.answer({ responseCode })
  })
  await away(false, lonely, network)
  expect(await lonely.settled(id)).toMatchObject({ status: 'captured', captured_amount: 10_000 })
  const seen = network.seen.filter((one) => one.rrn === rrn && one.mti.startsWith('02'))
  expect(seen.map(({ mti }) => mti)).toEqual(['0220', '0221', '0221', '0221'])
  const [{ stan, transmissionDateTime } = {}] = seen
  expect(seen).toMatchObject(
    seen.map(() => ({ stan, transmissionDateTime, amount: '000000010000' })),
  )
  // What takes it back names the advice.
  expect((await lonely.post(`/v1/transactions/${id}/void`)).status).toBe(200)
  await lonely.settled(id)
  const reversals = network.seen.filter(({ mti }) => mti === '0400')
  expect(reversals[0]?.originalData).toStartWith(`0220${stan}${transmissionDateTime}`)
  expect(reversals[1]?.originalData).toStartWith('0100')
})

const declined = { status: 'declined', auth_code: '', response_code: '' } as const

test('an advice whose time is over needs attention, and a person says how it ended', async () => {
  const records = await Promise.all([1, 2, 3].map(() => rig.authorize('tok_visa_approved')))
  const [kept, dropped, given] = records as [CardRecord, CardRecord, CardRecord]
  await rig.post(`/v1/transactions/${given.id}/capture`)
  await away(true)
  for (const { id } of [kept, dropped]) {
    expect((await rig.post(`/v1/transactions/${id}/capture`)).status).toBe(202)
  }
  expect((await rig.post(`/v1/transactions/${given.id}/refund`)).status).toBe(202)
  const sold = await rig.authorize('tok_visa_approved', { capture: true })
  const told = await rig.authorize('tok_visa_approved')
  await rig.database.sql`
    update card_reversals set created_at = now() - interval '24 hours'
    where status = 'pending' and (transaction_id <> ${sold.id} or reverses <> 'capture_advice')`
  for (const [{ id }, outcome, after] of [
    [kept, 'captured', { status: 'captured', captured_amount: 10_000 }],
    [dropped, 'authorized', { status: 'authorized' }],
    [given, 'refunded', { status: 'captured', refunded_amount: 10_000 }],
    [sold, 'declined', { ...declined, reason: 'advice_refused' }],
    [told, 'authorized', { status: 'authorized' }],
  ] as const) {
    let record = await read(id)
    while (record['needs_attention'] !== true) record = await read(id)
    if (id === told.id) {
      expect((await rig.post(`/v1/transactions/${id}/capture`)).status).toBe(409)
    }
    const resolved = await rig.app.call('POST', `/v1/transactions/${id}/resolve`, {
      key: rig.adminKey,
      body: { outcome, reason: 'Network desk' },
    })
    expect(await json(resolved)).toMatchObject({ status: 200, body: after })
    expect((await read(id))['operation']).toBeUndefined()
  }
  expect(await waiting()).toEqual([])
  await away(false)
  expect(entryOf(kept)).toMatchObject({ capturedAmount: 0 })
})

test('rules that could not be kept are told at start', () => {
  const limits = { floor_limits: { BRL: 1 } }
  for (const [advices, content, problem] of [
    [{ operations: ['authorization'] }, undefined, 'floor_limits need each other'],
    [{ operations: ['capture'], ...limits }, undefined, 'floor_limits need each other'],
    [{ operations: ['capture'] }, { messages: { capture: null } }, 'has no capture_advice'],
    [{ operations: ['void'] }, { messages: { reversal: null } }, 'has no reversal'],
    [{ operations: ['refund'], expiry_hours: 721 }, undefined, 'expiry_hours'],
    [{ operations: ['refund'], floor_limits: { EUR: 1 } }, undefined, 'floor_limits'],
  ] as const) {
    expect(() => parseNetwork({ advices, ...(content && { content }) })).toThrow(problem)
  }
  const { advices } = parseNetwork({ advices: { operations: ['refund'], expiry_hours: 720 } })
  expect(advices?.expiryHours).toBe(720)
})

test('nothing goes on in place of a network that this process has only not reached yet', () => {
  const verdict = { kind: 'not_sent', why: 'no_connection' } as const
  const network = (isAway: boolean) =>
    ({
      advices: parseNetwork({ advices: rules }).advices,
      isAway: () => isAway,
    }) as unknown as Network
  const transaction = { amountCents: 100n, currency: 'BRL' } as CardTransaction
  const kindOf = (isAway: boolean) =>
    orGoingOn(network(isAway), 'authorization', transaction, verdict, false).kind
  expect([kindOf(false), kindOf(true)]).toEqual(['not_sent', 'advised'])
})
