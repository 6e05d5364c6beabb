import { afterAll, beforeEach, expect, test } from 'bun:test'
import { CardMessage, createFieldSetter, dialects } from '#codecs/iso8583'
import { createMetrics } from '#src/platform/observe/index.ts'
import { createContent } from '../../../src/cards/content/index.ts'
import { answerCodes1987, createAnswerRules } from '../../../src/cards/networks/answers.ts'
import type { ExchangeOutcome } from '../../../src/cards/networks/index.ts'
import { createReconciliation } from '../../../src/cards/reconciliation/index.ts'
import { until } from '../../support/card-network.ts'
import { createTestDatabase, quietLogger } from '../../support/database.ts'

/* What answers mean, and when days end by our clock: the network is a function. */

const database = await createTestDatabase()
const { sql } = database
afterAll(() => database.close())
beforeEach(async () => {
  await sql`truncate card_business_days, card_movements, card_reconciliations`
})

type Answering = (request: CardMessage) => ExchangeOutcome | Promise<ExchangeOutcome>

const rules = {
  isByNetwork: false,
  cutOver: { minutes: 0, offsetMinutes: -180 },
  waitSeconds: 0,
  expiryHours: 24,
  batchUpload: 'never' as const,
}

type Change = {
  readonly isByNetwork?: boolean
  readonly cutOver?: typeof rules.cutOver
  readonly names?: readonly string[]
}

/** The engine at a moment that the test moves: the place of its networks moves with it, as the database has one clock. */
const rigOf = (answering: Answering, { names = ['neta'], ...change }: Change = {}) => {
  const clock = { at: new Date('2026-11-23T02:00:00Z') }
  const moved = {
    minutes: 0,
    get offsetMinutes() {
      return rules.cutOver.offsetMinutes + (clock.at.getTime() - Date.now()) / 60_000
    },
  }
  const sent: CardMessage[] = []
  let stan = 0
  const network = {
    name: 'neta',
    timeoutMs: 100,
    isPending: () => false,
    answers: createAnswerRules(answerCodes1987),
    content: createContent(dialects['ascii']!, undefined, true, false, true),
    reconciliation: { ...rules, cutOver: moved, ...change },
    health: () => ({
      name: 'neta',
      connectionsUp: 1,
      connectionsMax: 1,
      inFlight: 0,
      inFlightMax: 1,
      lastEcho: undefined,
    }),
    exchange: async (request: CardMessage) => {
      sent.push(Object.assign(new CardMessage(), request))
      return answering(request)
    },
  }
  const reconciliation = createReconciliation({
    sql,
    networks: names.map((name) => ({ ...network, name })),
    logger: quietLogger,
    now: () => clock.at,
    metrics: createMetrics({ version: 'test', withProcess: false }),
    nextStan: async () => {
      stan++
      return { stan: String(stan).padStart(6, '0'), rrn: '', transmission: '1123020000' }
    },
    // Nothing is uploaded here.
    vault: { resolve: () => Promise.reject(new Error('no card')) },
    vaultTimeoutMs: 0,
    merchants: new Map(),
    timing: { everyMs: 5, backoffBaseMs: 5 },
  })
  return { clock, sent, ...reconciliation }
}

const answerOf = (fields: Readonly<Record<number, string>>): ExchangeOutcome => {
  const response = new CardMessage()
  response.mti = '0510'
  for (const [de, text] of Object.entries(fields)) createFieldSetter(Number(de))(response, text)
  return { kind: 'answered', response }
}

const rows = () => sql<{ day: string; currency: string; status: string; attempts: number }[]>`
  select day::text, currency, status, attempts from card_reconciliations order by id`

/** Looks until something waits no more. */
const ended = async () => {
  let found = await rows()
  for (let left = 2_000; left > 0 && found.every(({ status }) => status === 'pending'); left--) {
    await Bun.sleep(5)
    found = await rows()
  }
  return found
}

const book = (cents: number, day: string) => sql`
  insert into card_movements (network, day, currency, kind, amount_cents, transaction_id, stan, transmission)
  values ('neta', ${day}, 'BRL', 'debit', ${cents}, ${`txn_${cents}`}, '000001', '1')`

const ours = { 76: '0000000001', 88: '0000000000000700' }
const lost: ExchangeOutcome = { kind: 'connection_lost' }
const notSent: ExchangeOutcome = { kind: 'not_sent', reason: 'no_connection' }

test.each([
  ['balanced', [{ 39: '00', 66: '1' }]],
  ['balanced', [{ 39: '00' }]],
  ['balanced', [{ 39: '00', 66: '1', ...ours }]],
  ['different', [{ 39: '00', 66: '1', ...ours, 88: '0000000000000701' }]],
  ['different', [{ 39: '00', 66: '1', 74: 'x' }]],
  ['different', [{ 39: '00', 66: '2' }]],
  ['different', [{ 39: '95' }]],
  ['different', [{ 39: '95', 66: '1', ...ours }]],
  ['refused', [{ 39: '00', 66: '3' }]],
  ['refused', [{ 39: '12' }]],
  ['refused', [{ 39: '30', ...ours }]],
  ['balanced', [lost, { 39: '91' }, { 39: '96' }, notSent, { 39: '00', 66: '1' }]],
] as const)('a day is %s after %j', async (status, answers) => {
  await sql`insert into card_business_days (network, day) values ('neta', '2026-11-21')`
  await book(700, '2026-11-21')
  const left = [...answers]
  const rig = rigOf(() => {
    const next = left.shift()
    return next !== undefined && 'kind' in next ? next : answerOf(next ?? {})
  })
  await rig.job.start()
  expect(await ended()).toMatchObject([{ day: '2026-11-21', currency: 'BRL', status }])
  await rig.job.stop()
  expect(rig.sent.map(({ mti }) => mti)).toEqual(
    answers.map((_, at) => (at === 0 ? '0500' : '0501')),
  )
  expect(
    new Set(rig.sent.map(({ stan, transmissionDateTime }) => [stan, transmissionDateTime].join())),
  ).toEqual(new Set(['000001,1123020000']))
  const [{ attempts } = { attempts: 0 }] = await rows()
  expect(attempts).toBe(answers.filter((one) => one !== notSent).length)
})

test('our clock ends a day at the network’s place, and totals stay as they were first sent', async () => {
  let isAnswered = false
  const rig = rigOf(() => (isAnswered ? answerOf({ 39: '00', 66: '1' }) : lost))
  await rig.job.start()
  await until(() => rig.clock.at !== undefined, 'the start')
  const open = async () => (await sql`select day::text from card_business_days`)[0]?.['day']
  for (let left = 400; left > 0 && (await open()) === undefined; left--) await Bun.sleep(5)
  expect(await open()).toBe('2026-11-22')
  await book(1, '2026-11-22')
  rig.clock.at = new Date('2026-11-23T02:59:50Z')
  await Bun.sleep(30)
  expect([await open(), rig.sent.length]).toEqual(['2026-11-22', 0])
  rig.clock.at = new Date('2026-11-23T03:00:10Z')
  await until(() => rig.sent.length > 1, 'a repeat')
  expect(await open()).toBe('2026-11-23')
  await book(2, '2026-11-22')
  isAnswered = true
  expect(await ended()).toMatchObject([{ day: '2026-11-22', status: 'balanced' }])
  await rig.job.stop()
  const told = rig.sent.map(({ settlementDate, more }) => [settlementDate, more?.get(88)])
  expect(new Set(told.map(String))).toEqual(new Set(['1122,0000000000000001']))
})

test('a network that does not answer keeps no day of another one open', async () => {
  await sql`
    insert into card_business_days (network, day)
    values ('neta', '2026-11-20'), ('netb', '2026-11-20')`
  let answer: (outcome: ExchangeOutcome) => void = () => undefined
  const silent = new Promise<ExchangeOutcome>((resolve) => {
    answer = resolve
  })
  const rig = rigOf(() => silent, { names: ['neta', 'netb'] })
  void rig.job.start()
  await until(() => rig.sent.length === 1, 'the message that is not answered')
  expect(await sql`select network, day::text from card_business_days order by 1`).toMatchObject([
    { network: 'neta', day: '2026-11-22' },
    { network: 'netb', day: '2026-11-22' },
  ])
  answer(answerOf({ 39: '00' }))
  await rig.job.stop()
})

test('a process whose clock is ahead ends no day: all go by that of the database', async () => {
  const today = new Date()
  const cutOver = { minutes: 0, offsetMinutes: 12 * 60 - today.getUTCHours() * 60 }
  const day = today.toISOString().slice(0, 10)
  await sql`insert into card_business_days (network, day) values ('neta', ${day})`
  const rig = rigOf(() => answerOf({ 39: '00' }), { cutOver })
  rig.clock.at = new Date(today.getTime() + 3 * 86_400_000)
  await rig.job.start()
  await rig.job.stop()
  expect(await sql`select day::text from card_business_days`).toMatchObject([{ day }])
  expect((await rows()).length).toBe(0)
})

test('what is not answered in time is given up, and a process that dies is followed by another', async () => {
  await sql`
    insert into card_reconciliations (network, day, currency, next_attempt_at, created_at, attempts,
      stan, transmission, lease_until, ours)
    values ('neta', '2026-11-20', 'BRL', now(), now() - interval '25 hours', 3, '000009', '1', null, null),
      ('neta', '2026-11-21', 'BRL', now(), now(), 1, '000010', '2', now() + interval '200 ms',
        '{"credit": {}, "credit_reversal": {}, "debit": {"count": 1, "cents": "5"}, "debit_reversal": {}}')`
  const rig = rigOf(() => answerOf({ 39: '00' }))
  await rig.job.start()
  await until(() => rig.sent.length === 1, 'the one whose process died')
  for (let left = 400; left > 0 && (await rows())[1]?.status === 'pending'; left--)
    await Bun.sleep(5)
  await rig.job.stop()
  expect(await rows()).toMatchObject([
    { day: '2026-11-20', status: 'unanswered' },
    { day: '2026-11-21', status: 'balanced', attempts: 2 },
  ])
  expect(rig.sent).toMatchObject([{ mti: '0501', stan: '000010', transmissionDateTime: '2' }])
})

test('a settlement code that cannot be stored ends the day all the same', async () => {
  await book(700, '2026-11-20')
  await sql`insert into card_business_days (network, day) values ('neta', '2026-11-20')`
  const rig = rigOf(() => answerOf({ 39: '00', 66: '\0', ...ours }))
  void rig.job.start()
  const [day] = await ended()
  await rig.job.stop()
  expect(day).toMatchObject({ status: 'refused', attempts: 1 })
})

test('the network ends a day by DE 15, or once an hour without it', async () => {
  const rig = rigOf(() => answerOf({ 39: '00' }), { isByNetwork: true })
  const open = async () => (await sql`select day::text from card_business_days`)[0]?.['day']
  await sql`insert into card_business_days (network, day, since) values ('neta', '2026-11-20', now() - interval '2 hours')`
  for (const [told, day] of [
    [undefined, '2026-11-21'],
    [undefined, '2026-11-21'],
    ['1121', '2026-11-21'],
    ['1120', '2026-11-21'],
    ['1124', '2026-11-24'],
    ['9999', '2026-11-24'],
    // No night ends a day two months ahead, which would keep the days until then from ending.
    ['0131', '2026-11-24'],
    ['1203', '2026-12-03'],
  ] as const) {
    expect(await rig.cutOver('neta', told)).toBe(true)
    expect([told, await open()]).toEqual([told, day])
  }
  expect((await rows()).map(({ day }) => day)).toEqual(['2026-11-20', '2026-11-21', '2026-11-24'])
  expect(await rig.cutOver('netb', '1125')).toBe(true)
  // Told again and again, it gets no further without DE 15 than with it.
  for (let night = 0; night < 8; night++) {
    await sql`update card_business_days set since = now() - interval '2 hours'`
    expect(await rig.cutOver('neta', undefined)).toBe(true)
  }
  expect(await open()).toBe('2026-12-07')
})
