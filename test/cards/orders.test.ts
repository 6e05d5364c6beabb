import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import fc from 'fast-check'
import { emitWithin } from '#src/webhooks/index.ts'
import { insertReversals } from '../../src/cards/reversals/index.ts'
import { createAbandonedSweep } from '../../src/cards/use-cases/abandoned.ts'
import { createExpiry } from '../../src/cards/use-cases/expiry.ts'
import { authorizationBody, type CardsRig, createCardsRig } from '../support/cards-rig.ts'
import { quietLogger } from '../support/database.ts'
import { createLyingLedger, type Fate, fates, type LyingLedger } from '../support/lying-ledger.ts'

/*
 * Increments, captures, partial reversals, voids, refunds and expiry in any order, while the network loses answers, tells
 * them late, or says the contrary of what it does, and other processes take over what seems to be abandoned. In the end
 * the payment is what its caller was told, and the network's ledger is ours to the cent.
 */

const isLong = process.env['TRILHO_LONG'] === '1'
const runs = isLong ? 400 : 5
const seed = Number(process.env['TRILHO_SEED'] ?? Date.now() % 2 ** 31)
/** Payments at the same time. */
const together = 32
const timeoutMs = 200
/** Later than that nothing arrives, and nothing is answered. */
const timing = { answerMs: 260, arriveMs: 320 }
const windowMs = 600
const settleMs = 20_000
const pollMs = 10

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
  readonly steps: readonly Step[]
  /** Of the reversals that the gateway sends by itself, one after the other; from then on the network does them. */
  readonly reversals: readonly Fate[]
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
  ),
  steps: fc.array(anyStep, { maxLength: 10, size: 'max' }),
  reversals: fc.array(anyFate, { maxLength: 3 }),
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
    if (next === undefined || next.isReversal !== isReversal) {
      return isReversal ? (course.reversals.shift() ?? 'done') : 'done'
    }
    course.next = undefined
    if (next.isTaken) void take((request.rrn ?? '').trim())
    return next.fate
  }, timing)
  rig = await createCardsRig({ networkA: network, timeoutMs, windowMs })
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
  const body = authorizationBody('tok_visa_approved', { terminal_id: terminal })
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

/** A void that was refused, then something else was done, and then the network says that it has done the void. */
const isOvertaken = (record: Json): boolean => record['needs_attention'] === true

const endOf = async (id: string): Promise<End> => {
  const record = await recordOf(id)
  return { record, ledger: network.of(String(record['rrn'])), open: await openOf(id) }
}
const isOver = ({ record, ledger, open }: End): boolean =>
  record['operation'] === undefined &&
  record['status'] !== 'pending' &&
  open === 0 &&
  (isOvertaken(record) || Bun.deepEquals(oursOf(record), ledger))

/** When nothing is under way, on no side, and both agree; or what it is when that never comes. */
const ended = async (id: string): Promise<End> => {
  const endMs = performance.now() + settleMs
  for (;;) {
    const end = await endOf(id)
    if ((network.late() === 0 && isOver(end)) || performance.now() > endMs) return end
    await Bun.sleep(pollMs)
  }
}

const sumOf = (told: readonly Told[], ...of: readonly Step['act'][]): number =>
  told
    .filter(({ step, status }) => step !== undefined && of.includes(step.act) && status === 200)
    .reduce((sum, { step }) => sum + (step?.cents ?? 0), 0)

/** What the caller was told to be done is in the record, and nothing else, unless all of it was taken back. */
const check = ({ told }: Course, { record }: End): void => {
  if (record['status'] === 'voided') {
    // Nobody takes a payment back of which nobody asked that.
    const isAsked = told.some(
      ({ step }) => step?.act === 'void' || step?.act === 'partial_void' || step?.act === 'expire',
    )
    expect(isAsked || told[0]?.status !== 201).toBe(true)
    return
  }
  if (record['status'] === 'declined') return
  expect({
    amount: record['amount'],
    captured: cents(record['captured_amount']),
    refunded: cents(record['refunded_amount']),
  }).toEqual({
    amount: 10_000 + sumOf(told, 'increment'),
    captured: sumOf(told, 'part', 'capture'),
    refunded: sumOf(told, 'refund'),
  })
}

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

test(`${runs} times payments in any order of operations are what was told, here and at the network (seed ${seed})`, async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(anyPayment, { minLength: 1, maxLength: together, size: 'max' }),
      async (payments) => {
        const all = await Promise.all(payments.map(run))
        for (const course of all) {
          if (course.id === undefined) continue
          const end = await ended(course.id)
          try {
            expect(end.record['operation'] ?? null).toBeNull()
            expect(end.open).toBe(0)
            if (!isOvertaken(end.record)) expect(oursOf(end.record)).toEqual(end.ledger)
            check(course, end)
          } catch (error) {
            const { rrn } = end.record
            const seen = network.seen.filter((one) => one.rrn === rrn)
            throw new Error(
              [
                String(error),
                JSON.stringify(course.payment),
                ...course.told.map(
                  ({ step, status, record }) =>
                    `told ${step?.act ?? 'authorize'} ${step?.cents ?? ''} ${status} ${JSON.stringify(record)}`,
                ),
                ...seen.map(
                  ({ mti, stan, amount, originalData }) =>
                    `seen ${mti} ${stan} ${amount} ${originalData ?? ''}`,
                ),
                ...(await historyOf(course.id)),
                JSON.stringify(end),
              ].join('\n'),
            )
          }
        }
      },
    ),
    { numRuns: runs, seed, endOnFailure: true },
  )
})
