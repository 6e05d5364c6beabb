/** Payments in any order of operations over a network that lies, and what has to be true of them in the end. */
import { expect } from 'bun:test'
import { join } from 'node:path'
import { emitWithin } from '#src/webhooks/index.ts'
import type { CardNetworks } from '../../src/cards/index.ts'
import { insertReversals } from '../../src/cards/reversals/index.ts'
import { createAbandonedSweep } from '../../src/cards/use-cases/abandoned.ts'
import { createExpiry } from '../../src/cards/use-cases/expiry.ts'
import { authorizationBody } from './cards-rig.ts'
import type { Payment, Round, Step } from './cards-rounds.ts'
import { quietLogger, type TestDatabase } from './database.ts'
import { createLyingLedger, type Fate, type LyingLedger } from './lying-ledger.ts'
import { temporaryDirectory } from './temporary.ts'

const settleMs = 20_000
const pollMs = 10
/** While the network comes and goes. */
const awayMs = 150

type Json = Readonly<Record<string, unknown>>
type Told = { readonly status: number; readonly record: Json }
type ToldOf = Told & { readonly step: Step | undefined }
type Course = {
  readonly payment: Payment
  /** What the next message of the caller's meets; undefined once it was met. */
  next: { readonly fate: Fate; readonly isReversal: boolean; readonly isTaken: boolean } | undefined
  readonly reversals: Fate[]
  readonly told: ToldOf[]
  id: string | undefined
}

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

/** The gateway that the payments go through. */
export type OrdersGateway = {
  readonly sql: TestDatabase['sql']
  readonly networks: CardNetworks
  /** @param path behind `/v1/transactions` */
  readonly post: (path: string, body: Json | undefined) => Promise<Told>
  readonly recordOf: (id: string) => Promise<Json>
  /** Resolves once nothing is under way. */
  readonly settled: (id: string) => Promise<unknown>
}

const messages = () => {
  const operations = ['authorization', 'capture', 'refund', 'void']
  const advices = { operations, floor_limits: { BRL: 10_000 } }
  const fields = { '60': { from: 'accept_partial' } }
  return { advices, content: { messages: { authorization: { fields } } } }
}

/** Writes the file of network A; returns the settings of a gateway that sends it these orders. */
export const ordersEnvironment = async (): Promise<Readonly<Record<string, string>>> => {
  const path = join(temporaryDirectory(), 'messages.json')
  await Bun.write(path, JSON.stringify(messages()))
  return { CARDGW_NETA_MESSAGES_FILE: path, CARDGW_NETA_CONNECT_WAIT_MS: '0' }
}

/**
 * @param timing of the network; nothing arrives later than that, and nothing is answered
 * @param timeoutMs how long the gateway waits for the network
 */
export const createOrders = (
  timing: { readonly answerMs: number; readonly arriveMs: number },
  timeoutMs: number,
) => {
  const courses = new Map<string, Course>()
  let gateway: OrdersGateway
  let sweep: () => Promise<number>
  let expire: () => Promise<number>
  let terminals = 0

  /** As if its process had stood still for a minute, and another had looked. */
  const take = async (rrn: string): Promise<void> => {
    await gateway.sql`
      update card_transactions set touched_at = touched_at - interval '1 minute' where rrn = ${rrn}`
    await sweep()
  }

  const network = createLyingLedger((request) => {
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

  const proceed = async (course: Course, id: string, step: Step): Promise<void> => {
    if (step.waits) await gateway.settled(id)
    if (step.act === 'expire') {
      await gateway.sql`
        update card_transactions set created_at = created_at - interval '25 hours' where id = ${id}`
      await expire()
      course.told.push({ step, status: 0, record: await gateway.recordOf(id) })
      return
    }
    const isReversal = step.act === 'void' || step.act === 'partial_void'
    course.next = { fate: step.fate, isReversal, isTaken: step.isTaken }
    const told = await gateway.post(`/${id}/${paths[step.act]}`, bodyOf(step))
    course.next = undefined
    course.told.push({ step, ...told })
  }

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
    const told = await gateway.post('/authorize', body)
    course.next = undefined
    course.told.push({ step: undefined, ...told })
    const [row] = await gateway.sql`
      select id from card_transactions where terminal_id = ${terminal}`
    course.id = row?.['id'] as string | undefined
    if (told.status === 201 && told.record['status'] === 'authorized') {
      for (const step of payment.steps) await proceed(course, told.record['id'] as string, step)
    }
    return course
  }

  /**
   * Plays a round to its end.
   * @param disturb does what else is to happen, until that is over; awaited before anything is judged
   * @throws Error with the story of the first payment that is not what was told
   */
  const play = async (
    { payments, isAway }: Round,
    disturb?: (isOver: () => boolean) => Promise<void>,
  ): Promise<void> => {
    const stay = isAway ? comeAndGo(network) : undefined
    let isOver = false
    const disturbed = disturb?.(() => isOver)
    const courses = await Promise.all(payments.map(run)).finally(() => {
      isOver = true
      return stay?.()
    })
    await disturbed
    for (const course of courses) {
      if (course.id === undefined) continue
      const end = await ended(gateway, network, course.id)
      try {
        check(course, end)
      } catch (error) {
        throw new Error(`${error}\n${await storyOf(gateway, network, course, end)}`)
      }
    }
  }

  return {
    network,
    play,
    /** To be called once, before anything is played. */
    through: (given: OrdersGateway): void => {
      gateway = given
      const common = {
        sql: given.sql,
        insertReversals,
        emission: emitWithin,
        logger: quietLogger,
        now: () => new Date(),
      }
      ;({ sweep } = createAbandonedSweep({
        ...common,
        networks: [{ name: 'neta', timeoutMs }],
        marginMs: 30_000,
      }))
      ;({ sweep: expire } = createExpiry({
        ...common,
        networks: given.networks.all.map(({ name, content }) => ({
          name,
          content,
          authorizationHours: 24,
        })),
        onReversals: () => undefined,
      }))
    },
  }
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

const openOf = async (gateway: OrdersGateway, id: string) => {
  const rows = await gateway.sql`
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

const endOf = async (gateway: OrdersGateway, network: LyingLedger, id: string): Promise<End> => {
  const record = await gateway.recordOf(id)
  return { record, ledger: network.of(String(record['rrn'])), open: await openOf(gateway, id) }
}
const isOver = ({ record, ledger, open }: End): boolean =>
  record['operation'] === undefined &&
  record['status'] !== 'pending' &&
  open === 0 &&
  (isForPerson(record) || Bun.deepEquals(oursOf(record), ledger))

/** When nothing is under way, on no side, and both agree; or what it is when that never comes. */
const ended = async (gateway: OrdersGateway, network: LyingLedger, id: string): Promise<End> => {
  const endMs = performance.now() + settleMs
  for (;;) {
    const end = await endOf(gateway, network, id)
    if ((network.late() === 0 && isOver(end)) || performance.now() > endMs) return end
    await Bun.sleep(pollMs)
  }
}

const sumOf = (told: readonly ToldOf[], status: number, ...of: readonly Step['act'][]): number =>
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

const historyOf = async (gateway: OrdersGateway, id: string) => {
  const rows = await gateway.sql`
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
const storyOf = async (
  gateway: OrdersGateway,
  network: LyingLedger,
  { id = '', payment, told }: Course,
  end: End,
) =>
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
    ...(await historyOf(gateway, id)),
    JSON.stringify(end),
  ].join('\n')

/** Signs off and on until it is called; then the network is there. */
const comeAndGo = (network: LyingLedger): (() => Promise<void>) => {
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
