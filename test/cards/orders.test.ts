import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { join } from 'node:path'
import fc from 'fast-check'
import { emitWithin } from '#src/webhooks/index.ts'
import { insertReversals } from '../../src/cards/reversals/index.ts'
import { createAbandonedSweep } from '../../src/cards/use-cases/abandoned.ts'
import { createExpiry } from '../../src/cards/use-cases/expiry.ts'
import { authorizationBody, type CardsRig, createCardsRig } from '../support/cards-rig.ts'
import { quietLogger } from '../support/database.ts'
import { createLyingLedger, type Fate, fates, type LyingLedger } from '../support/lying-ledger.ts'
import { seed } from '../support/seed.ts'
import { temporaryDirectory } from '../support/temporary.ts'

/*
 * Increments, captures, partial reversals, voids, refunds and expiry in any order, while the network approves parts, loses
 * answers, tells them late, says the contrary of what it does, cuts connections, or is away, and other processes take
 * over what seems to be abandoned. In the end the payment is what its caller was told, and the network's ledger is ours
 * to the cent.
 */

const isLong = process.env['TRILHO_LONG'] === '1'
const runs = isLong ? 400 : 5
/** Payments at the same time. */
const together = 32
const timeoutMs = 200
/** Later than that nothing arrives, and nothing is answered. */
const timing = { answerMs: 260, arriveMs: 320 }
const windowMs = 600
const settleMs = 20_000
const pollMs = 10
/** While the network comes and goes. */
const awayMs = 150

setDefaultTimeout(isLong ? 3_600_000 : 120_000)

/** How often each is asked for: what ends a payment seldom, so that many come before it. */
const acts = {
  increment: 3,
  part: 5,
  capture: 1,
  partial_void: 3,
  void: 1,
  refund: 4,
  expire: 1,
} as const
type Step = {
  readonly act: keyof typeof acts
  readonly cents: number
  readonly fate: Fate
  /** Once nothing is under way any more. */
  readonly waits: boolean
  /** Another process takes it for abandoned when it is on the wire. */
  readonly isTaken: boolean
}
type Payment = {
  readonly fate: Fate
  /** Its caller takes a part of what it asks for. */
  readonly takesPart: boolean
  readonly steps: readonly Step[]
  /** Of what the gateway sends by itself, reversals and advices, one after the other; from then on they are done. */
  readonly reversals: readonly Fate[]
}
type Round = {
  readonly payments: readonly Payment[]
  /** The network signs off and on. */
  readonly isAway: boolean
}

const anyFate = fc.oneof(
  { weight: 3, arbitrary: fc.constant<Fate>('done') },
  { weight: 2, arbitrary: fc.constantFrom(...fates) },
)
const anyStep: fc.Arbitrary<Step> = fc.record({
  act: fc.oneof(
    ...Object.entries(acts).map(([act, weight]) => ({
      weight,
      arbitrary: fc.constant(act as Step['act']),
    })),
  ),
  cents: fc.integer({ min: 1, max: 3_000 }),
  fate: anyFate,
  waits: fc.boolean(),
  isTaken: fc.oneof(
    { weight: 7, arbitrary: fc.constant(false) },
    { arbitrary: fc.constant(true), weight: 1 },
  ),
})
const anyPayment: fc.Arbitrary<Payment> = fc.record({
  fate: fc.oneof(
    { weight: 4, arbitrary: fc.constant<Fate>('done') },
    { weight: 1, arbitrary: anyFate },
    { weight: 1, arbitrary: fc.constant<Fate>('done in part') },
  ),
  takesPart: fc.boolean(),
  steps: fc.array(anyStep, { maxLength: 10, size: 'max' }),
  reversals: fc.array(anyFate, { maxLength: 3 }),
})

const anyRound: fc.Arbitrary<Round> = fc.record({
  payments: fc.array(anyPayment, { minLength: 1, maxLength: together, size: 'max' }),
  isAway: fc.boolean(),
})

type Json = Readonly<Record<string, unknown>>
type Told = { readonly step: Step | undefined; readonly status: number; readonly record: Json }
type Course = {
  readonly payment: Payment
  /** What the next message of the caller's meets; undefined once it was met. */
  next: { readonly fate: Fate; readonly isReversal: boolean; readonly isTaken: boolean } | undefined
  readonly reversals: Fate[]
  readonly told: Told[]
  id: string | undefined
}

const courses = new Map<string, Course>()
let network: LyingLedger
let rig: CardsRig
let sweep: () => Promise<number>
let expire: () => Promise<number>
beforeAll(async () => {
  network = createLyingLedger((request) => {
    const course = courses.get((request.terminalId ?? '').trim())
    if (course === undefined) return 'done'
    const { next } = course
    const isReversal = request.mti.startsWith('04')
    const isAdvice = request.mti[2] === '2'
    if (next === undefined || isAdvice || next.isReversal !== isReversal) {
      return isReversal || isAdvice ? (course.reversals.shift() ?? 'done') : 'done'
    }
    course.next = undefined
    if (next.isTaken) void take((request.rrn ?? '').trim())
    return next.fate
  }, timing)
  const path = join(temporaryDirectory(), 'messages.json')
  const operations = ['authorization', 'capture', 'refund', 'void']
  const advices = { operations, floor_limits: { BRL: 10_000 } }
  const fields = { '60': { from: 'accept_partial' } }
  const content = { messages: { authorization: { fields } } }
  await Bun.write(path, JSON.stringify({ advices, content }))
  const environment = { CARDGW_NETA_MESSAGES_FILE: path, CARDGW_NETA_CONNECT_WAIT_MS: '0' }
  rig = await createCardsRig({ networkA: network, timeoutMs, windowMs, environment })
  const common = {
    sql: rig.database.sql,
    insertReversals,
    emission: emitWithin,
    logger: quietLogger,
    now: () => new Date(),
  }
  ;({ sweep } = createAbandonedSweep({ ...common, timeoutMs, marginMs: 30_000 }))
  ;({ sweep: expire } = createExpiry({
    ...common,
    networks: rig.networks.all.map(({ name, content }) => ({
      name,
      content,
      authorizationHours: 24,
    })),
    onReversals: () => undefined,
  }))
})
afterAll(() => rig[Symbol.asyncDispose]())

/** As if its process had stood still for a minute, and another had looked. */
const take = async (rrn: string): Promise<void> => {
  await rig.database.sql`
    update card_transactions set touched_at = touched_at - interval '1 minute' where rrn = ${rrn}`
  await sweep()
}

const recordOf = async (id: string) =>
  (await (await rig.get(`/v1/transactions/${id}`)).json()) as Json

const paths: Readonly<Record<Exclude<Step['act'], 'expire'>, string>> = {
  increment: 'increment',
  part: 'capture',
  capture: 'capture',
  partial_void: 'void',
  void: 'void',
  refund: 'refund',
}
const bodyOf = ({ act, cents: amount }: Step): Json | undefined => {
  if (act === 'void') return undefined
  return act === 'part' ? { amount, final: false } : { amount }
}

const proceed = async (course: Course, id: string, step: Step): Promise<void> => {
  if (step.waits) await rig.settled(id)
  if (step.act === 'expire') {
    await rig.database.sql`
      update card_transactions set created_at = created_at - interval '25 hours' where id = ${id}`
    await expire()
    course.told.push({ step, status: 0, record: await recordOf(id) })
    return
  }
  const isReversal = step.act === 'void' || step.act === 'partial_void'
  course.next = { fate: step.fate, isReversal, isTaken: step.isTaken }
  const response = await rig.post(`/v1/transactions/${id}/${paths[step.act]}`, bodyOf(step))
  course.next = undefined
  course.told.push({ step, status: response.status, record: (await response.json()) as Json })
}

let terminals = 0
const run = async (payment: Payment): Promise<Course> => {
  const terminal = `T${String(++terminals).padStart(7, '0')}`
  const course: Course = {
    payment,
    next: { fate: payment.fate, isReversal: false, isTaken: false },
    reversals: [...payment.reversals],
    told: [],
    id: undefined,
  }
  courses.set(terminal, course)
  const body = authorizationBody('tok_visa_approved', {
    terminal_id: terminal,
    accept_partial: payment.takesPart,
  })
  const response = await rig.post('/v1/transactions/authorize', body)
  const record = (await response.json()) as Json
  course.next = undefined
  course.told.push({ step: undefined, status: response.status, record })
  const [row] = await rig.database.sql`
    select id from card_transactions where terminal_id = ${terminal}`
  course.id = row?.['id'] as string | undefined
  if (response.status === 201 && record['status'] === 'authorized') {
    for (const step of payment.steps) await proceed(course, record['id'] as string, step)
  }
  return course
}

const cents = (value: unknown): number => Number(value ?? 0)
const oursOf = ({ status, ...record }: Json) => {
  const [amount, captured] = [cents(record['amount']), cents(record['captured_amount'])]
  return status === 'authorized' || status === 'captured'
    ? {
        held: amount - captured - cents(record['reversed_amount']),
        captured,
        refunded: cents(record['refunded_amount']),
      }
    : { held: 0, captured: 0, refunded: 0 }
}

const openOf = async (id: string) => {
  const rows = await rig.database.sql`
    select status from card_reversals where transaction_id = ${id} and status in ('pending', 'expired')`
  return rows.length
}

type End = {
  readonly record: Json
  readonly ledger: ReturnType<typeof oursOf>
  readonly open: number
}

/** The network has done what it refused, and it is too late to go on with that: only then a person is needed. */
const isForPerson = (record: Json): boolean => record['needs_attention'] === true
const contradicts = ({ payment: { fate, steps, reversals } }: Course): boolean =>
  [fate, ...steps.map((step) => step.fate), ...reversals].includes('refused, then done')

const endOf = async (id: string): Promise<End> => {
  const record = await recordOf(id)
  return { record, ledger: network.of(String(record['rrn'])), open: await openOf(id) }
}
const isOver = ({ record, ledger, open }: End): boolean =>
  record['operation'] === undefined &&
  record['status'] !== 'pending' &&
  open === 0 &&
  (isForPerson(record) || Bun.deepEquals(oursOf(record), ledger))

/** When nothing is under way, on no side, and both agree; or what it is when that never comes. */
const ended = async (id: string): Promise<End> => {
  const endMs = performance.now() + settleMs
  for (;;) {
    const end = await endOf(id)
    if ((network.late() === 0 && isOver(end)) || performance.now() > endMs) return end
    await Bun.sleep(pollMs)
  }
}

const sumOf = (told: readonly Told[], status: number, ...of: readonly Step['act'][]): number =>
  told
    .filter((one) => one.step !== undefined && of.includes(one.step.act) && one.status === status)
    .reduce((sum, { step }) => sum + (step?.cents ?? 0), 0)

/** What the caller was told to be done is in the record, and nothing else, unless all of it was taken back. */
const check = (course: Course, { record, ledger, open }: End): void => {
  const { payment, told } = course
  expect([record['operation'] ?? null, open]).toEqual([null, 0])
  const isRefused = record['reason'] === 'advice_refused'
  if (isForPerson(record)) expect(isRefused || contradicts(course)).toBe(true)
  else expect(oursOf(record)).toEqual(ledger)
  const isVoided = told.some(({ step, status }) => step?.act === 'void' && status === 200)
  if (isVoided) expect(record['status']).toBe('voided')
  if (record['status'] === 'voided') {
    // Nobody takes a payment back of which nobody asked that.
    const isAsked = told.some(({ step }) => step !== undefined && ending.has(step.act))
    expect(isAsked || told[0]?.status !== 201).toBe(true)
    return
  }
  if (record['status'] === 'declined') {
    expect(isRefused || told[0]?.record['status'] === 'declined').toBe(true)
    return
  }
  // A part, where one is taken, is what the first answer tells.
  const first = payment.takesPart ? cents(told[0]?.record['amount']) : 10_000
  expect(record['amount']).toBe(first + sumOf(told, 200, 'increment'))
  for (const [member, ...of] of [
    ['captured_amount', 'part', 'capture'],
    ['refunded_amount', 'refund'],
  ] as const) {
    const done = sumOf(told, 200, ...of)
    expect(cents(record[member])).toBeGreaterThanOrEqual(done)
    // The network had yet to hear of what was answered 202.
    expect(cents(record[member])).toBeLessThanOrEqual(done + sumOf(told, 202, ...of))
  }
}
const ending: ReadonlySet<string> = new Set(['void', 'partial_void', 'expire'])

const historyOf = async (id: string) => {
  const rows = await rig.database.sql`
    select at, type, data from card_events where transaction_id = ${id}
    union all
    select created_at, 'row ' || status || ' ' || reverses, to_jsonb(r) - 'card_token' from card_reversals r where transaction_id = ${id}
    order by 1`
  return rows.map(
    ({ at, type, data }) =>
      `${(at as Date).toISOString().slice(17, 23)} ${type} ${JSON.stringify(data).slice(0, 330)}`,
  )
}

/** Everything that is known of a payment, for whoever looks into it. */
const storyOf = async ({ id = '', payment, told }: Course, end: End) =>
  [
    JSON.stringify(payment),
    ...told.map(
      ({ step, status, record }) =>
        `told ${step?.act ?? 'authorize'} ${step?.cents ?? ''} ${status} ${JSON.stringify(record)}`,
    ),
    ...network.seen
      .filter(({ rrn }) => rrn === end.record['rrn'])
      .map(
        ({ mti, stan, amount, originalData = '' }) =>
          `seen ${mti} ${stan} ${amount} ${originalData}`,
      ),
    ...(await historyOf(id)),
    JSON.stringify(end),
  ].join('\n')

/** Signs off and on until it is called; then the network is there. */
const comeAndGo = (): (() => Promise<void>) => {
  let isOver = false
  const over = (async () => {
    while (!isOver) {
      network.ask('002')
      await Bun.sleep(awayMs)
      network.ask('001')
      await Bun.sleep(awayMs)
    }
  })()
  return () => {
    isOver = true
    return over
  }
}

const play = async ({ payments, isAway }: Round): Promise<void> => {
  const stay = isAway ? comeAndGo() : undefined
  const courses = await Promise.all(payments.map(run))
  await stay?.()
  for (const course of courses) {
    if (course.id === undefined) continue
    const end = await ended(course.id)
    try {
      check(course, end)
    } catch (error) {
      throw new Error(`${error}\n${await storyOf(course, end)}`)
    }
  }
}

test(`${runs} times payments in any order of operations are what was told, here and at the network (seed ${seed})`, () =>
  fc.assert(fc.asyncProperty(anyRound, play), { numRuns: runs, seed, endOnFailure: true }))
