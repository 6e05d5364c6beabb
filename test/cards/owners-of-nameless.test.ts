import { expect, setDefaultTimeout, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type CardMessage, parseOriginalData } from '#codecs/iso8583'
import { candidatesOf } from '../../src/cards/transactions/late-answers.ts'
import { authorizationBody, cardsRigOfFile, createCardsRig } from '../support/cards-rig.ts'
import { createScriptedNetwork } from '../support/scripted-network.ts'
import { temporaryDirectory } from '../support/temporary.ts'

/*
 * Late answers without DE 37: whatever they answer, they belong to the message that has their DE 11 and their DE 7, and
 * without DE 7 to those that had their DE 11 of late. An approval of nothing known here is kept for a person.
 */

setDefaultTimeout(60_000)

const network = createScriptedNetwork()
const rig = await cardsRigOfFile({ timeoutMs: 1_000, windowMs: 1_400, networkA: network })

const approves = { responseCode: '00', authCode: 'A00001' } as const

type Json = Readonly<Record<string, unknown>>

const authorize = async (change: Json = {}, of = rig): Promise<string> => {
  const body = authorizationBody('tok_visa_approved', change)
  const response = await of.post('/v1/transactions/authorize', body)
  return ((await response.json()) as { readonly id: string }).id
}
const until = async (what: () => boolean): Promise<void> => {
  const deadline = performance.now() + 40_000
  while (!what()) {
    if (performance.now() > deadline) throw new Error('did not come true in time')
    await Bun.sleep(5)
  }
}
const isReversal = ({ mti }: CardMessage): boolean => mti === '0400' || mti === '0401'

/** A second later: the hour, which DE 37 begins with, stays. */
const nextSecond = (transmission = ''): string =>
  transmission.slice(0, 8) + String((Number(transmission.slice(8)) + 1) % 60).padStart(2, '0')

/**
 * A network that declines the next message and holds its money all the same; what is returned says so, late. Until
 * then it says so of other messages: of another moment, and of another number.
 */
const contradicting = () => {
  const held = new Set<string>()
  let late = (_change: (declined: CardMessage) => Partial<CardMessage>): void => undefined
  network.on((request, peer) => {
    if (isReversal(request)) {
      const { stan } = parseOriginalData(request.originalData ?? '')
      peer.answer({ responseCode: held.delete(stan) ? '00' : '25' })
      return
    }
    held.add(request.stan ?? '')
    peer.answer({ responseCode: '05' })
    late = (change) => peer.answer({ ...approves, rrn: undefined, ...change(request) })
  })
  return {
    held,
    tellOthers: async (): Promise<void> => {
      late(({ transmissionDateTime }) => ({
        transmissionDateTime: nextSecond(transmissionDateTime),
      }))
      late(() => ({ stan: '987654' }))
      await Bun.sleep(200)
    },
    tell: (rrn?: string): void => late(() => ({ rrn })),
  }
}

test.each([
  ['authorization', {}],
  ['capture', { amount: 4_000 }],
  ['capture', { amount: 4_000, final: false }],
  ['refund', { amount: 2_000 }],
  ['increment', { amount: 2_000 }],
])('an approval that contradicts a decline has an owner: %s %j', async (path, body) => {
  network.on((_, peer) => peer.answer(approves))
  const following =
    path === 'authorization' ? undefined : await authorize({ capture: path === 'refund' })
  const { held, tellOthers, tell } = contradicting()
  const id = following ?? (await authorize())
  if (following !== undefined) {
    const response = await rig.post(`/v1/transactions/${id}/${path}`, body)
    expect(response.status).toBe(422)
    await response.body?.cancel()
  }
  const before = await (await rig.get(`/v1/transactions/${id}`)).json()
  const { length } = network.seen
  await tellOthers()
  expect([network.seen.length, held.size]).toEqual([length, 1])
  tell()
  await until(() => held.size === 0)
  expect(network.seen.slice(length).map(({ mti }) => mti)).toEqual(['0400'])
  const { status } = before as { readonly status: string }
  expect(await rig.settled(id)).toMatchObject({ status })
})

test('a void that is done after it was refused goes on', async () => {
  network.on((_, peer) => peer.answer(approves))
  const id = await authorize()
  let late = (): void => undefined
  network.on((_, peer) => {
    late = () => peer.answer({ responseCode: '00', rrn: undefined })
    peer.answer({ responseCode: '05' })
  })
  const response = await rig.post(`/v1/transactions/${id}/void`)
  expect(response.status).toBe(422)
  await response.body?.cancel()
  const { length } = network.seen
  network.on((_, peer) => peer.answer({ responseCode: '00' }))
  late()
  await until(() => network.seen.length > length)
  expect(await rig.settled(id)).toMatchObject({ status: 'voided' })
})

test('the late answer to a reversal is kept with its transaction', async () => {
  let late: (() => void) | undefined
  network.on((request, peer) => {
    if (!isReversal(request)) return
    peer.answer({ responseCode: '00' })
    late ??= () => peer.answer({ responseCode: '00', rrn: undefined })
  })
  const response = await rig.post(
    '/v1/transactions/authorize',
    authorizationBody('tok_visa_approved'),
  )
  const { error } = (await response.json()) as { error: { details: { transaction_id: string } } }
  const id = error.details.transaction_id
  await rig.settled(id)
  late?.()
  const types = async (): Promise<readonly string[]> => {
    const { events } = (await (await rig.get(`/v1/transactions/${id}/events`)).json()) as {
      events: readonly { type: string }[]
    }
    return events.map(({ type }) => type)
  }
  for (const endMs = performance.now() + 40_000; !(await types()).includes('late_answer'); ) {
    if (performance.now() > endMs) throw new Error('it was not kept')
    await Bun.sleep(10)
  }
})

/** A gateway that goes on while the network is away, and what sends the network off and brings it back. */
const createStanding = async (operations: readonly string[], mtis: Json = {}) => {
  const file = join(temporaryDirectory(), 'messages.json')
  const advices = { operations, floor_limits: { BRL: 10_000 } }
  writeFileSync(file, JSON.stringify({ advices, content: { messages: mtis } }))
  const standing = await createCardsRig({
    timeoutMs: 1_000,
    windowMs: 1_400,
    database: rig.database,
    networkA: { port: network.port, stop: () => undefined },
    environment: { CARDGW_NETA_MESSAGES_FILE: file, CARDGW_NETA_CONNECT_WAIT_MS: '0' },
  })
  const isUp = () => standing.networks.byName('neta')?.health().connectionsUp === 1
  return {
    standing,
    goAway: async (): Promise<void> => {
      network.ask('002')
      await until(() => !isUp())
    },
    comeBack: (): void => network.ask('001'),
  }
}

test('an advice of an authorization that is refused, and then taken after all, is taken back', async () => {
  const { standing, goAway, comeBack } = await createStanding(['authorization', 'capture'])
  await goAway()
  const id = await authorize({}, standing)
  const { held, tellOthers, tell } = contradicting()
  comeBack()
  await until(() => held.size === 1)
  expect(await standing.settled(id)).toMatchObject({ status: 'declined', reason: 'advice_refused' })
  await tellOthers()
  tell()
  await until(() => held.size === 0)
  expect(network.seen.at(-1)?.originalData).toStartWith('0120')
  expect(await standing.settled(id)).toMatchObject({ status: 'declined' })
})

test.each([
  ['capture', { amount: 4_000 }],
  ['capture', { amount: 4_000, final: false }],
  ['refund', { amount: 2_000 }],
])(
  'an advice of a %s %j that is refused, and then taken after all, is taken back by its own name',
  async (path, body) => {
    const operations = ['authorization', 'capture', 'refund', 'void']
    const { standing, goAway, comeBack } = await createStanding(operations)
    network.on((_, peer) => peer.answer(approves))
    const id = await authorize({ capture: path === 'refund' }, standing)
    await goAway()
    const response = await standing.post(`/v1/transactions/${id}/${path}`, body)
    expect(response.status).toBe(202)
    await response.body?.cancel()
    const { held, tellOthers, tell } = contradicting()
    comeBack()
    await until(() => held.size === 1)
    const before = await standing.settled(id)
    expect(before).toMatchObject({ status: path === 'refund' ? 'captured' : 'authorized' })
    const told = network.seen.at(-1)
    expect(told?.mti).toBe('0220')
    await tellOthers()
    tell()
    await until(() => held.size === 0)
    const name = `0220${told?.stan ?? ''}${told?.transmissionDateTime ?? ''}`
    expect(network.seen.at(-1)?.originalData).toStartWith(name)
    expect(await standing.settled(id)).toMatchObject({ status: before.status })
    if (path === 'refund') return
    // What is captured anew is known to the network by the 0200, and a void of it names that.
    network.on((_, peer) => peer.answer(approves))
    for (const next of ['capture', 'void']) {
      const done = await standing.post(`/v1/transactions/${id}/${next}`)
      expect(done.status).toBe(200)
      await done.body?.cancel()
    }
    const [captured] = network.seen.slice(-2)
    expect(captured?.mti).toBe('0200')
    expect(network.seen.at(-1)?.originalData).toStartWith(`0200${captured?.stan ?? ''}`)
  },
)

test('where an authorization is a 0200, its late approval has an owner too, with DE 37 and without', async () => {
  const file = join(temporaryDirectory(), 'messages.json')
  writeFileSync(file, JSON.stringify({ content: { messages: { authorization: { mti: '0200' } } } }))
  const sales = await createCardsRig({
    timeoutMs: 1_000,
    windowMs: 1_400,
    database: rig.database,
    networkA: { port: network.port, stop: () => undefined },
    environment: { CARDGW_NETA_MESSAGES_FILE: file },
  })
  for (const isNamed of [true, false]) {
    const { held, tell } = contradicting()
    const id = await authorize({}, sales)
    const { rrn } = (await (await sales.get(`/v1/transactions/${id}`)).json()) as { rrn: string }
    tell(isNamed ? rrn : undefined)
    await until(() => held.size === 0)
    expect(await sales.settled(id)).toMatchObject({ status: 'declined' })
  }
})

/** What a late answer tells that has neither DE 37 nor DE 7. */
const bare = { rrn: undefined, transmissionDateTime: undefined } as const

type Unmatched = Readonly<Record<string, unknown>>
const unmatched = async (): Promise<readonly Unmatched[]> => {
  const path = '/v1/transactions/unmatched-advices'
  const response = await rig.app.call('GET', path, { key: rig.adminKey })
  return ((await response.json()) as { readonly advices: readonly Unmatched[] }).advices
}
const untilUnmatched = async (stan: string): Promise<Unmatched> => {
  for (const endMs = performance.now() + 40_000; ; await Bun.sleep(10)) {
    const found = (await unmatched()).find((one) => one['stan'] === stan)
    if (found !== undefined) return found
    if (performance.now() > endMs) throw new Error(`${stan} is not kept`)
  }
}

/** Declines the next message and holds its money all the same; what is returned tells of it with the change. */
const decliningAndHolding = () => {
  const held = new Set<string>()
  let late = (_change: Partial<CardMessage>): void => undefined
  let stan = ''
  network.on((request, peer) => {
    if (isReversal(request)) {
      const original = parseOriginalData(request.originalData ?? '').stan
      peer.answer({ responseCode: held.delete(original) ? '00' : '25' })
      return
    }
    stan = request.stan ?? ''
    held.add(stan)
    peer.answer({ responseCode: '05' })
    late = (change) => peer.answer({ ...approves, ...bare, ...change })
  })
  return {
    held,
    tell: (change: Partial<CardMessage> = {}): void => late(change),
    stan: (): string => stan,
  }
}

test.each([
  ['authorization', {}],
  ['capture', { amount: 4_000 }],
  ['refund', { amount: 2_000 }],
  ['increment', { amount: 2_000 }],
])('an approval that has its DE 11 alone has an owner: %s', async (path, body) => {
  network.on((_, peer) => peer.answer(approves))
  const following =
    path === 'authorization' ? undefined : await authorize({ capture: path === 'refund' })
  const { held, tell } = decliningAndHolding()
  const id = following ?? (await authorize())
  if (following !== undefined) {
    const response = await rig.post(`/v1/transactions/${id}/${path}`, body)
    expect(response.status).toBe(422)
    await response.body?.cancel()
  }
  const { length } = network.seen
  tell({ terminalId: undefined, merchantId: undefined, amount: undefined, currency: undefined })
  await until(() => held.size === 0)
  expect(network.seen.slice(length).map(({ mti }) => mti)).toEqual(['0400'])
  await rig.settled(id)
})

test('a void that is done after it was refused goes on, by its DE 11 alone', async () => {
  network.on((_, peer) => peer.answer(approves))
  const id = await authorize()
  let late = (): void => undefined
  network.on((_, peer) => {
    late = () => peer.answer({ responseCode: '00', ...bare })
    peer.answer({ responseCode: '05' })
  })
  const response = await rig.post(`/v1/transactions/${id}/void`)
  expect(response.status).toBe(422)
  await response.body?.cancel()
  const { length } = network.seen
  network.on((_, peer) => peer.answer({ responseCode: '00' }))
  late()
  await until(() => network.seen.length > length)
  expect(await rig.settled(id)).toMatchObject({ status: 'voided' })
})

test.each([
  ['amount', { amount: '000000020000' }],
  ['currency', { currency: '840' }],
  ['terminal', { terminalId: 'TERM02' }],
] as const)('one of another %s is nobody’s, and is kept for a person', async (_, change) => {
  const { held, tell, stan } = decliningAndHolding()
  await authorize()
  const { length } = network.seen
  tell(change)
  const currency = 'currency' in change ? 'USD' : 'BRL'
  expect(await untilUnmatched(stan())).toMatchObject({
    network: 'neta',
    currency,
    mti: '0110',
    response_code: '00',
    times: 1,
    transmission: '',
    rrn: '',
  })
  expect([network.seen.length, held.size]).toEqual([length, 1])
})

test('an approval of nothing known here is kept for a person, and waits anew when it is told anew', async () => {
  const { tell } = decliningAndHolding()
  await authorize()
  for (const change of [{ stan: '987001' }, { stan: '987002', rrn: '633100987002' }]) {
    tell(change)
    const { id, amount } = await untilUnmatched(change.stan)
    expect(amount).toBe(10_000)
    const path = `/v1/transactions/unmatched-advices/${String(id)}/resolve`
    const seenTo = { key: rig.adminKey, body: { reason: 'asked the network' } }
    const headers = { 'idempotency-key': crypto.randomUUID() }
    const response = await rig.app.call('POST', path, { ...seenTo, headers })
    expect(response.status).toBe(200)
    await response.body?.cancel()
    expect((await unmatched()).map(({ stan }) => stan)).not.toContain(change.stan)
    tell(change)
    expect(await untilUnmatched(change.stan)).toMatchObject({ id, times: 2 })
  }
})

test('a decline of nothing known here asks for nobody', async () => {
  const { tell } = decliningAndHolding()
  await authorize()
  tell({ stan: '987003', responseCode: '05' })
  tell({ stan: '987004' })
  await untilUnmatched('987004')
  expect((await unmatched()).map(({ stan }) => stan)).not.toContain('987003')
})

test('of several that it may be, each that is not in the book is taken back, and all say so', async () => {
  const { held, tell, stan } = decliningAndHolding()
  const ids = [await authorize()]
  const first = stan()
  ids.push(await authorize())
  // The numbers came round: another message of late had the same one.
  const reference = (10 * 36 ** 5 + Number(first)).toString(36).toUpperCase()
  await rig.database.sql`
    update card_transactions set stan = ${first}, rrn = left(rrn, 6) || ${reference}::text
    where id = ${ids[1] ?? ''}`
  const { length } = network.seen
  tell({ stan: first })
  await until(() => network.seen.length === length + 2)
  expect(held.has(first)).toBe(false)
  for (const id of ids) {
    await rig.settled(id)
    const { events } = (await (await rig.get(`/v1/transactions/${id}/events`)).json()) as {
      events: readonly { type: string; data: Unmatched }[]
    }
    const kept = events.find(({ type }) => type === 'late_answer')
    expect(kept?.data).toMatchObject({ stan: first, candidates: 2 })
  }
})

test('of several that it may be, those of its merchant are meant', async () => {
  const { held, tell, stan } = decliningAndHolding()
  const ids = [await authorize({ merchant_id: 'MERCHANT000001' })]
  const first = stan()
  ids.push(await authorize({ merchant_id: 'MERCHANT000002' }))
  const reference = (10 * 36 ** 5 + Number(first)).toString(36).toUpperCase()
  await rig.database.sql`
    update card_transactions set stan = ${first}, rrn = left(rrn, 6) || ${reference}::text
    where id = ${ids[1] ?? ''}`
  const { length } = network.seen
  tell({ stan: first, merchantId: 'MERCHANT000001' })
  await until(() => !held.has(first))
  for (const id of ids) await rig.settled(id)
  expect(network.seen).toHaveLength(length + 1)
  const kept = await rig.database.sql`
    select transaction_id as id from card_events
    where transaction_id in ${rig.database.sql(ids)} and type = 'late_answer'`
  expect(kept).toMatchObject([{ id: ids[0] }])
})

/** Has a void refused for a payment of each merchant, all under the last one's number, as if the numbers came round. */
const refusedVoids = async (merchants: readonly string[]) => {
  network.on((_, peer) => peer.answer(approves))
  const ids: string[] = []
  for (const merchant of merchants) ids.push(await authorize({ merchant_id: merchant }))
  let late = (): void => undefined
  let stan = ''
  network.on((request, peer) => {
    stan = request.stan ?? ''
    late = () => peer.answer({ responseCode: '00', ...bare })
    peer.answer({ responseCode: '05' })
  })
  for (const id of ids) {
    const response = await rig.post(`/v1/transactions/${id}/void`)
    expect(response.status).toBe(422)
    await response.body?.cancel()
  }
  await rig.database.sql`
    update card_events set data = data || jsonb_build_object('stan', ${stan}::text)
    where transaction_id in ${rig.database.sql(ids)} and type = 'void_sent'`
  network.on((_, peer) => peer.answer({ responseCode: '00' }))
  return { ids, stan, late: () => late() }
}

test('a void that is done after it was refused goes on, by its DE 11 and its merchant', async () => {
  const { ids, late } = await refusedVoids(['MERCHANT000001', 'MERCHANT000002'])
  const { length } = network.seen
  late()
  await until(() => network.seen.length > length)
  expect(await rig.settled(ids[1] ?? '')).toMatchObject({ status: 'voided' })
  expect(await rig.settled(ids[0] ?? '')).toMatchObject({ status: 'authorized' })
})

test('of several voids those of its merchant are meant, however many others came between', async () => {
  const merchants = ['MERCHANT000002', 'MERCHANT000001', 'MERCHANT000001', 'MERCHANT000002']
  const { ids, stan } = await refusedVoids(merchants)
  const unknown = { amountCents: undefined, currency: undefined, terminalId: undefined }
  const voids = { network: 'neta', stan, rrns: [], answers: 'void', ...unknown } as const
  const candidates = (merchantId: string | undefined) =>
    candidatesOf(rig.database.sql, { ...voids, merchantId }, 2)
  expect(await candidates('MERCHANT000002')).toEqual([ids[3] ?? '', ids[0] ?? ''])
  expect(await candidates('MERCHANT000001')).toEqual([ids[2] ?? '', ids[1] ?? ''])
  for (const merchantId of ['MERCHANT000003', undefined]) {
    expect(await candidates(merchantId)).toEqual([ids[3] ?? '', ids[2] ?? ''])
  }
})

test('where money has moved for one of several, a person hears of it too', async () => {
  network.on((_, peer) => peer.answer(approves))
  const ids = [await authorize(), await authorize()]
  const { tell, stan } = decliningAndHolding()
  const stans: string[] = []
  for (const id of ids) {
    const response = await rig.post(`/v1/transactions/${id}/capture`)
    expect(response.status).toBe(422)
    stans.push(stan())
  }
  const [first = ''] = stans
  await rig.database.sql`
    update card_events set data = data || jsonb_build_object('stan', ${first}::text)
    where transaction_id = ${ids[1] ?? ''} and type = 'capture_sent'`
  const { length } = network.seen
  tell({ stan: first, responseCode: '91' })
  await until(() => network.seen.length === length + 2)
  for (const id of ids) await rig.settled(id)
  expect((await unmatched()).map((one) => one['stan'])).not.toContain(first)
  tell({ stan: first })
  expect(await untilUnmatched(first)).toMatchObject({ mti: '0210', response_code: '00', times: 1 })
  for (const id of ids) expect(await rig.settled(id)).toMatchObject({ status: 'authorized' })
})

test('a late approval has its owner while another message waits under its number', async () => {
  const { held, tell, stan } = decliningAndHolding()
  const first = await authorize()
  const { rrn } = (await (await rig.get(`/v1/transactions/${first}`)).json()) as { rrn: string }
  const { length } = network.seen
  let now = (): void => undefined
  let number = ''
  network.on((request, peer) => {
    if (isReversal(request)) {
      peer.answer({ responseCode: held.delete(stan()) ? '00' : '25' })
      return
    }
    number = request.stan ?? ''
    now = () => peer.answer(approves)
  })
  const second = authorize()
  await until(() => number !== '')
  await rig.database.sql`update card_transactions set stan = ${number} where id = ${first}`
  tell({ stan: number, rrn })
  await until(() => network.seen.length > length + 1)
  now()
  expect(parseOriginalData(network.seen.at(-1)?.originalData ?? '').stan).toBe(number)
  expect(await rig.settled(await second)).toMatchObject({ status: 'authorized' })
  expect(await rig.settled(first)).toMatchObject({ status: 'declined' })
})

test('a flood of late answers fills no table, and keeps no honest payment waiting', async () => {
  const floods = 3_000
  const { held, tell } = decliningAndHolding()
  const id = await authorize()
  const { rrn } = (await (await rig.get(`/v1/transactions/${id}`)).json()) as { rrn: string }
  // A hundred of them differ.
  for (let told = 0; told < floods; told++) {
    tell({ rrn, authCode: String(told % 100).padStart(6, '0') })
  }
  await until(() => held.size === 0)
  network.on((_, peer) => peer.answer(approves))
  for (const one of await Promise.all(Array.from({ length: 20 }, () => authorize()))) {
    expect(await rig.settled(one)).toMatchObject({ status: 'authorized' })
  }
  const late = async (): Promise<number> => {
    const [row] = await rig.database.sql<{ count: number }[]>`
      select count(*)::int as count from card_events
      where transaction_id = ${id} and type = 'late_answer'`
    return row?.count ?? 0
  }
  expect(await late()).toBeGreaterThan(0)
  await Bun.sleep(500)
  // Twenty, and those that were looked into when there were as many.
  expect(await late()).toBeLessThanOrEqual(24)
  expect(await rig.settled(id)).toMatchObject({ status: 'declined' })
})

test.each([
  ['void', { amount: 6_000 }, 'capture', { amount: 8_000, final: false }],
  ['void', { amount: 6_000 }, 'increment', { amount: 1_000 }],
  ['void', {}, 'capture', { amount: 3_000, final: false }],
])(
  'a %s %j that was refused, and is done after a %s %j, waits for a person',
  async (...[voided, part, path, body]) => {
    network.on((_, peer) => peer.answer(approves))
    const id = await authorize()
    let late = (): void => undefined
    network.on((_, peer) => {
      late = () => peer.answer({ responseCode: '00' })
      peer.answer({ responseCode: '05' })
    })
    const done = async (path: string, body: Json): Promise<number> => {
      const response = await rig.post(`/v1/transactions/${id}/${path}`, body)
      await response.body?.cancel()
      return response.status
    }
    expect(await done(voided, part)).toBe(422)
    network.on((_, peer) => peer.answer(approves))
    expect(await done(path, body)).toBe(200)
    const { rrn } = (await (await rig.get(`/v1/transactions/${id}`)).json()) as { rrn: string }
    const seenCount = () => network.seen.filter((one) => one.rrn === rrn).length
    const before = seenCount()
    late()
    for (const endMs = performance.now() + 40_000; ; await Bun.sleep(10)) {
      const record = await rig.settled(id)
      expect(record['reversed_amount']).toBeUndefined()
      if (record['needs_attention'] === true) break
      if (performance.now() > endMs) throw new Error('nobody is asked')
    }
    expect(seenCount()).toBe(before)
  },
)
