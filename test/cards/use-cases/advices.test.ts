import { expect, setDefaultTimeout, test } from 'bun:test'
import { CardMessage, formatOriginalData } from '#codecs/iso8583'
import { createTurns } from '../../../src/cards/told.ts'
import { unmatchedMax } from '../../../src/cards/transactions/unmatched.ts'
import { createAdvices } from '../../../src/cards/use-cases/advices.ts'
import { until } from '../../support/card-network.ts'
import { type CardRecord, cardsRigOfFile } from '../../support/cards-rig.ts'
import { quietLogger } from '../../support/database.ts'
import { createScriptedNetwork } from '../../support/scripted-network.ts'

setDefaultTimeout(60_000)

/* What a network tells of its own accord is kept before it is answered, and counts once. */

const network = createScriptedNetwork()
const rig = await cardsRigOfFile({ networkA: network })
network.on((_, peer) => peer.answer({ responseCode: '00', authCode: 'A00001' }))

let stans = 0

/** Tells it and gives the response code of its answer. */
const tell = async (message: Partial<CardMessage>): Promise<string | undefined> => {
  const before = network.answers.length
  const stan = String(++stans).padStart(6, '0')
  network.tell({ mti: '0420', stan, transmissionDateTime: '1122120000', ...message })
  await until(() => network.answers.length > before, 'the answer to the advice')
  expect(network.answers.at(-1)?.stan).toBe(message.stan ?? stan)
  return network.answers.at(-1)?.responseCode
}

const read = async (id: string) =>
  (await (await rig.get(`/v1/transactions/${id}`)).json()) as CardRecord

const advicesOf = async (id: string): Promise<number> => {
  const rows = await rig.database.sql`
    select from card_events where transaction_id = ${id} and type = 'network_advice'`
  return rows.length
}

/** The reversal of the whole authorization. */
const reversalOf = async (record: CardRecord): Promise<Partial<CardMessage>> => {
  const [row] = await rig.database.sql<{ stan: string; transmission: string }[]>`
    select stan, transmission from card_transactions where id = ${record.id}`
  const { stan = '', transmission = '' } = row ?? {}
  const ids = { acquirerId: '', forwarderId: '' }
  const original = { mti: '0100', stan, transmissionDateTime: transmission, ...ids }
  return {
    rrn: String(record['rrn']),
    amount: '000000010000',
    currency: '986',
    originalData: formatOriginalData(original),
  }
}

test('an advice whose DE 7 cannot be stored is kept for a person', async () => {
  const { rrn } = await rig.authorize('tok_visa_approved')
  const message = Object.assign(new CardMessage(), {
    mti: '0420',
    stan: '000777',
    rrn: String(rrn),
    transmissionDateTime: '11221200\0\0',
    merchantId: 'M\0',
  })
  const take = createAdvices({
    sql: rig.database.sql,
    networks: rig.networks,
    onReversals: () => undefined,
    inTurn: createTurns(),
    emission: undefined,
    logger: quietLogger,
    now: () => new Date(),
  })
  expect(await take({ network: 'neta', message })).toBe('25')
  const [kept] = await rig.database.sql`
    delete from card_unmatched_advices where stan = '000777' returning transmission`
  expect(kept?.['transmission']).toBe('')
})

test('a reversal that the network made ends the authorization once, however often it is told', async () => {
  const record = await rig.authorize('tok_visa_approved')
  const reversal = { ...(await reversalOf(record)), stan: '900001' }
  expect(await tell(reversal)).toBe('00')
  expect(await tell({ ...reversal, mti: '0421' })).toBe('00')
  const after = await read(record.id)
  expect(after).toMatchObject({ status: 'voided', reason: 'reversed_by_network' })
  expect(after['needs_attention']).toBeUndefined()
  expect(await advicesOf(record.id)).toBe(1)
  expect(await rig.reversalsOf(record.id)).toEqual([])
})

test('a reversal of a part, of a capture or of other numbers is somebody’s business', async () => {
  for (const change of [
    { amount: '000000009999' },
    { currency: '840' },
    { originalData: `0100${'9'.repeat(38)}` },
    { originalData: '9'.repeat(41) },
    { replacementAmounts: `000000004000${'0'.repeat(12)}D00000000D00000000` },
  ]) {
    const record = await rig.authorize('tok_visa_approved')
    expect(await tell({ ...(await reversalOf(record)), ...change })).toBe('00')
    expect(await read(record.id)).toMatchObject({ status: 'authorized', needs_attention: true })
  }
  const captured = await rig.authorize('tok_visa_approved', { capture: true })
  expect(await tell(await reversalOf(captured))).toBe('00')
  expect(await read(captured.id)).toMatchObject({ status: 'captured', needs_attention: true })
  const resolved = await rig.app.call('POST', `/v1/transactions/${captured.id}/resolve`, {
    key: rig.adminKey,
    body: { outcome: 'captured', reason: 'Network desk' },
  })
  expect(resolved.status).toBe(200)
  expect((await read(captured.id))['needs_attention']).toBeUndefined()
})

/** What its network stands for of the authorization, or has booked of it. */
const decisionOn = (
  record: CardRecord,
  change: Partial<CardMessage> = {},
): Partial<CardMessage> => ({
  mti: '0120',
  rrn: String(record['rrn']),
  amount: '000000010000',
  currency: '986',
  responseCode: '00',
  ...change,
})

test('a decision and a booking that agree with the book change nothing, and count once', async () => {
  const record = await rig.authorize('tok_visa_approved')
  const decision = decisionOn(record, { stan: '900010' })
  expect(await tell(decision)).toBe('00')
  expect(await tell({ ...decision, mti: '0121' })).toBe('00')
  expect(await advicesOf(record.id)).toBe(1)
  expect(await read(record.id)).toMatchObject({ status: 'authorized' })
  expect((await read(record.id))['needs_attention']).toBeUndefined()
  const captured = await rig.authorize('tok_visa_approved', { capture: true })
  const booking = decisionOn(captured, { mti: '0220', stan: '900010' })
  expect(await tell(booking)).toBe('00')
  expect(await tell({ ...booking, mti: '0221' })).toBe('00')
  expect(await advicesOf(captured.id)).toBe(1)
  expect((await read(captured.id))['needs_attention']).toBeUndefined()
  expect(network.answers.slice(-4).map(({ mti }) => mti)).toEqual(['0130', '0130', '0230', '0230'])
})

test('a booking is of the capture whose numbers it gives, whatever others amount to', async () => {
  const { id, rrn } = await rig.authorize('tok_visa_approved')
  const part = (amount: number) =>
    rig.post(`/v1/transactions/${id}/capture`, { amount, final: false })
  for (const amount of [3_000, 4_000]) expect((await part(amount)).status).toBe(200)
  const [authorization, first, second] = network.seen.filter((one) => one.rrn === rrn)
  const booking = (amount: number, change: Partial<CardMessage>): Partial<CardMessage> => ({
    mti: '0220',
    rrn: String(rrn),
    amount: String(amount).padStart(12, '0'),
    currency: '986',
    responseCode: '00',
    ...change,
  })
  const naming = (mti: string, one = first): Partial<CardMessage> => {
    const { stan = '', transmissionDateTime = '' } = one ?? {}
    const ids = { acquirerId: '', forwarderId: '' }
    return { originalData: formatOriginalData({ mti, stan, transmissionDateTime, ...ids }) }
  }
  const { stan, transmissionDateTime } = second ?? {}
  for (const known of [
    booking(3_000, naming('0200')),
    booking(4_000, naming('0200', second)),
    booking(4_000, naming('0100', authorization)),
    booking(4_000, { stan, transmissionDateTime }),
  ]) {
    expect(await tell(known)).toBe('00')
    expect((await read(id))['needs_attention']).toBeUndefined()
  }
  for (const other of [
    booking(4_000, naming('0200')),
    booking(3_000, { stan: first?.stan, transmissionDateTime, ...naming('0200', second) }),
    booking(4_000, { originalData: '9'.repeat(42) }),
    booking(4_000, { originalData: '9'.repeat(41) }),
  ]) {
    expect(await tell(other)).toBe('00')
    expect((await read(id))['needs_attention']).toBe(true)
    await rig.database.sql`update card_transactions set needs_attention = false where id = ${id}`
  }
})

test('a booking of a capture whose answer is on its way is answered once that has come', async () => {
  const record = await rig.authorize('tok_visa_approved')
  let answerCapture = (): void => undefined
  network.on(({ mti }, peer) => {
    answerCapture = () => peer.answer({ responseCode: '00', authCode: 'A00001' })
    if (mti !== '0200') answerCapture()
  })
  const capturing = rig.post(`/v1/transactions/${record.id}/capture`)
  const sent = () => network.seen.find(({ mti, rrn }) => mti === '0200' && rrn === record['rrn'])
  await until(() => sent() !== undefined, 'the capture')
  const { stan = '', transmissionDateTime = '' } = sent() ?? {}
  const ids = { acquirerId: '', forwarderId: '' }
  const original = { mti: '0200', stan, transmissionDateTime, ...ids }
  const booking = decisionOn(record, {
    mti: '0220',
    stan: '900030',
    transmissionDateTime: '1122120000',
    originalData: formatOriginalData(original),
  })
  const { sql } = rig.database
  const take = createAdvices({
    sql,
    networks: rig.networks,
    emission: undefined,
    logger: quietLogger,
    onReversals: () => undefined,
    inTurn: createTurns(),
    now: () => new Date(),
  })
  const message = () => Object.assign(new CardMessage(), booking)
  expect(await take({ network: 'neta', message: message() })).toBeUndefined()
  answerCapture()
  expect((await capturing).status).toBe(200)
  expect(await take({ network: 'neta', message: message() })).toBe('00')
  const after = await read(record.id)
  expect(after.status).toBe('captured')
  expect(after['needs_attention']).toBeUndefined()
  network.on((_, peer) => peer.answer({ responseCode: '00', authCode: 'A00001' }))
})

test('a booking of what is being reversed has no answer yet, whatever else needs a person', async () => {
  const record = await rig.authorize('tok_visa_approved')
  network.on((request, peer) => {
    const isCapture = request.mti === '0200'
    const undecided = isCapture || request.mti.startsWith('04')
    peer.answer({ responseCode: undecided ? '91' : '00' })
  })
  await rig.post(`/v1/transactions/${record.id}/capture`)
  expect(await tell({ rrn: String(record['rrn']), amount: '000000000100' })).toBe('00')
  expect(await read(record.id)).toMatchObject({
    operation: 'reversing_capture',
    needs_attention: true,
  })
  const sent = network.seen.find(({ mti, rrn }) => mti === '0200' && rrn === record['rrn'])
  const numbers = { stan: sent?.stan, transmissionDateTime: sent?.transmissionDateTime }
  const booking = decisionOn(record, { mti: '0220', ...numbers })
  const { sql } = rig.database
  const take = createAdvices({
    sql,
    networks: rig.networks,
    emission: undefined,
    logger: quietLogger,
    onReversals: () => undefined,
    inTurn: createTurns(),
    now: () => new Date(),
  })
  const message = Object.assign(new CardMessage(), booking)
  expect(await take({ network: 'neta', message })).toBeUndefined()
  // Nor may a person say what becomes of what the network is still asked about.
  const resolve = async (outcome: string): Promise<number> => {
    const path = `/v1/transactions/${record.id}/resolve`
    const body = { outcome, reason: 'Network desk, case 4711' }
    return (await rig.app.call('POST', path, { key: rig.adminKey, body })).status
  }
  expect(await resolve('captured')).toBe(409)
  network.on((_, peer) => peer.answer({ responseCode: '00', authCode: 'A00001' }))
  expect(await rig.settled(record.id)).toMatchObject({
    status: 'authorized',
    needs_attention: true,
  })
  expect(await resolve('authorized')).toBe(200)
})

test('a booking of what was given up for a person is noted for whoever that is', async () => {
  const record = await rig.authorize('tok_visa_approved', { capture: true })
  await rig.database.sql`
    update card_transactions set operation = 'reversing_refund', operation_stan = '000901',
      operation_transmission = '1122120000', operation_cents = 4000, needs_attention = true
    where id = ${record.id}`
  const numbers = { stan: '000901', transmissionDateTime: '1122120000' }
  const booking = decisionOn(record, { mti: '0220', processingCode: '200000', ...numbers })
  expect(await tell({ ...booking, amount: '000000004000' })).toBe('00')
  expect(await advicesOf(record.id)).toBe(1)
  expect(await read(record.id)).toMatchObject({
    operation: 'reversing_refund',
    needs_attention: true,
  })
})

test('a refund that the network has booked is the one in the book, or somebody’s business', async () => {
  const record = await rig.authorize('tok_visa_approved', { capture: true })
  const refund = decisionOn(record, { mti: '0220', processingCode: '200000' })
  const refunded = await rig.post(`/v1/transactions/${record.id}/refund`, { amount: 4_000 })
  expect(refunded.status).toBe(200)
  expect(await tell({ ...refund, amount: '000000004000' })).toBe('00')
  expect((await read(record.id))['needs_attention']).toBeUndefined()
  expect(await tell(refund)).toBe('00')
  expect(await read(record.id)).toMatchObject({ needs_attention: true })
})

test('a booking of one of several refunds is the one whose numbers it gives, and of none if they are other', async () => {
  const { id, rrn } = await rig.authorize('tok_visa_approved', { capture: true })
  for (const amount of [1_000, 2_500]) {
    expect((await rig.post(`/v1/transactions/${id}/refund`, { amount })).status).toBe(200)
  }
  const sent = network.seen.filter((one) => one.rrn === rrn && one.mti === '0200')
  const [capture, first, second] = sent
  const booking = (amount: number, change: Partial<CardMessage> = {}): Partial<CardMessage> => ({
    mti: '0220',
    processingCode: '200000',
    rrn: String(rrn),
    currency: '986',
    amount: String(amount).padStart(12, '0'),
    responseCode: '00',
    ...change,
  })
  const naming = (one = first): Partial<CardMessage> => {
    const { stan = '', transmissionDateTime = '' } = one ?? {}
    const ids = { acquirerId: '', forwarderId: '' }
    return { originalData: formatOriginalData({ mti: '0200', stan, transmissionDateTime, ...ids }) }
  }
  const own = { stan: second?.stan, transmissionDateTime: second?.transmissionDateTime }
  for (const known of [
    booking(1_000),
    booking(2_500),
    booking(3_500),
    booking(1_000, naming()),
    booking(2_500, naming(second)),
    booking(2_500, naming(capture)),
    booking(2_500, own),
  ]) {
    expect(await tell(known)).toBe('00')
    expect((await read(id))['needs_attention']).toBeUndefined()
  }
  for (const other of [booking(900), booking(2_500, naming()), booking(1_000, own)]) {
    await rig.database.sql`
      delete from card_events where transaction_id = ${id} and type = 'network_advice'`
    expect(await tell(other)).toBe('00')
    expect((await read(id))['needs_attention']).toBe(true)
    await rig.database.sql`update card_transactions set needs_attention = false where id = ${id}`
  }
})

test('a decision or a booking that differs from the book is somebody’s business', async () => {
  const differing: readonly Partial<CardMessage>[] = [
    { amount: '000000009999' },
    { currency: '840' },
    { amount: undefined },
    { responseCode: '51' },
    { responseCode: undefined },
    { mti: '0220' },
  ]
  for (const change of differing) {
    const record = await rig.authorize('tok_visa_approved')
    expect(await tell(decisionOn(record, change))).toBe('00')
    expect(await read(record.id)).toMatchObject({ status: 'authorized', needs_attention: true })
  }
  const captured = await rig.authorize('tok_visa_approved', { capture: true })
  expect(await tell(decisionOn(captured, { mti: '0220', amount: '000000009999' }))).toBe('00')
  expect(await read(captured.id)).toMatchObject({ status: 'captured', needs_attention: true })
  const booked = await rig.authorize('tok_visa_approved', { capture: true })
  expect(await tell(decisionOn(booked, { mti: '0220', currency: '840' }))).toBe('00')
  expect(await read(booked.id)).toMatchObject({ status: 'captured', needs_attention: true })
})

test('an approval that the network tells of what was declined here is taken back', async () => {
  network.on((_, peer) => peer.answer({ responseCode: '05' }))
  const declined = await rig.authorize('tok_visa_approved')
  network.on((_, peer) => peer.answer({ responseCode: '00', authCode: 'A00001' }))
  expect(declined.status).toBe('declined')
  const decision = decisionOn(declined, { stan: '900020' })
  expect(await tell(decision)).toBe('00')
  expect(await tell({ ...decision, mti: '0121' })).toBe('00')
  expect(await rig.settled(declined.id)).toMatchObject({ status: 'declined' })
  expect(await rig.reversalsOf(declined.id)).toMatchObject([{ reverses: 'authorization' }])
  expect(
    network.seen.filter(({ mti, rrn }) => mti === '0400' && rrn === declined['rrn']),
  ).toHaveLength(1)
  // That it was declined is what the book says.
  expect(await tell(decisionOn(declined, { responseCode: '05' }))).toBe('00')
  expect((await read(declined.id))['needs_attention']).toBeUndefined()
})

test('what is unknown here is said to be, and an administrative advice is never refused', async () => {
  expect(await tell({ rrn: '000000000001', amount: '000000000001' })).toBe('25')
  expect(await tell({ amount: '000000000001' })).toBe('25')
  for (const mti of ['0120', '0220'] as const) {
    expect(await tell({ mti, rrn: '000000000001', responseCode: '00' })).toBe('25')
  }
  expect(await tell({ mti: '0620' })).toBe('00')
  const { id, rrn } = (await rig.authorize('tok_visa_approved')) as CardRecord & { rrn: string }
  expect(await tell({ mti: '0620', rrn })).toBe('00')
  expect(await advicesOf(id)).toBe(1)
  expect(await read(id)).toMatchObject({ status: 'authorized' })
})

type Unmatched = Readonly<Record<string, unknown>> & { readonly id: string }

test('of advices that change nothing twenty are noted, and what changes the payment always', async () => {
  const record = await rig.authorize('tok_visa_approved')
  const { id } = record
  const rrn = String(record['rrn'])
  for (let number = 1; number <= 25; number++) {
    const stan = String(800_000 + number)
    expect(await tell({ mti: '0620', rrn, stan })).toBe('00')
  }
  expect(await advicesOf(id)).toBe(20)
  expect(await tell(await reversalOf(record))).toBe('00')
  expect([await advicesOf(id), (await read(id)).status]).toEqual([21, 'voided'])
})

const unmatched = async (rrn: string): Promise<readonly Unmatched[]> => {
  const path = '/v1/transactions/unmatched-advices'
  const page = await rig.app.call('GET', path, { key: rig.adminKey })
  const { advices } = (await page.json()) as { readonly advices: readonly Unmatched[] }
  return advices.filter((one) => one['rrn'] === rrn)
}

test('what belongs to no transaction is kept once before it is answered, until a person has seen to it', async () => {
  const booking = {
    mti: '0220',
    rrn: '777777777771',
    amount: '000000004200',
    currency: '840',
    responseCode: '00',
    processingCode: '200000',
    stan: '900040',
  } satisfies Partial<CardMessage>
  expect(await tell(booking)).toBe('25')
  expect(await tell({ ...booking, mti: '0221' })).toBe('25')
  const note = { mti: '0620', rrn: '777777777772', stan: '900041' } as const
  expect(await tell(note)).toBe('00')
  const [kept, ...others] = await unmatched(booking.rrn)
  expect(kept).toMatchObject({
    network: 'neta',
    mti: '0220',
    stan: '900040',
    transmission: '1122120000',
    times: 2,
    processing_code: '200000',
    amount: 4_200,
    currency: 'USD',
    response_code: '00',
  })
  expect(others).toEqual([])
  expect(await unmatched(note.rrn)).toMatchObject([
    { mti: '0620', times: 1, amount: null, currency: null, response_code: null },
  ])
  const path = `/v1/transactions/unmatched-advices/${kept?.id}/resolve`
  const body = { reason: 'Network desk, case 4711' }
  const resolve = (key: string) => rig.app.call('POST', path, { key, body })
  expect((await resolve(rig.key)).status).toBe(403)
  expect((await resolve(rig.adminKey)).status).toBe(200)
  expect((await resolve(rig.adminKey)).status).toBe(404)
  expect(await unmatched(booking.rrn)).toEqual([])
  // Another repeat of it is no news.
  expect(await tell({ ...booking, mti: '0221' })).toBe('25')
  expect(await unmatched(booking.rrn)).toEqual([])
})

test('what no table could hold of an unmatched advice is left out, and it is kept; too many are not', async () => {
  const { sql } = rig.database
  const take = createAdvices({
    sql,
    networks: rig.networks,
    emission: undefined,
    logger: quietLogger,
    onReversals: () => undefined,
    inTurn: createTurns(),
    now: () => new Date(),
  })
  const told = (stan: string, change: Partial<CardMessage> = {}) =>
    take({
      network: 'neta',
      message: Object.assign(new CardMessage(), { mti: '0620', stan, ...change }),
    })
  const strange = { processingCode: '\u0000', transmissionDateTime: '\u0000', currency: '\u0000' }
  expect(await told('900042', strange)).toBe('00')
  const odd = (await unmatched('')).find((one) => one['stan'] === '900042')
  expect(odd).toMatchObject({ transmission: '', processing_code: null, currency: null })
  await sql`
    insert into card_unmatched_advices (network, mti, stan, transmission, rrn)
    select 'neta', '0620', n::text, '', 'flood' from generate_series(1, ${unmatchedMax - 1} - (
      select count(*)::int from card_unmatched_advices
      where network = 'neta' and resolved_at is null)) n`
  expect(await told('900043')).toBe('00')
  expect(await told('900044')).toBeUndefined()
  expect(await told('900043')).toBe('00')
  await sql`delete from card_unmatched_advices`
})

test('an advice that cannot be kept gets no answer', async () => {
  const record = await rig.authorize('tok_visa_approved')
  const numbers = { mti: '0420', stan: '900002', transmissionDateTime: '1122120000' } as const
  const message = Object.assign(new CardMessage(), numbers, await reversalOf(record))
  const { sql } = rig.database
  const now = () => new Date()
  const take = createAdvices({
    sql,
    networks: rig.networks,
    emission: undefined,
    logger: quietLogger,
    now,
    onReversals: () => undefined,
    inTurn: createTurns(),
  })
  await sql`alter table card_events rename to card_events_away`
  expect(await take({ network: 'neta', message })).toBeUndefined()
  await sql`alter table card_events_away rename to card_events`
  expect(await read(record.id)).toMatchObject({ status: 'authorized' })
  expect(await take({ network: 'neta', message })).toBe('00')
  expect(await read(record.id)).toMatchObject({ status: 'voided' })
})
