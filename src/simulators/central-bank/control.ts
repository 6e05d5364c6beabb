/** The simulator's own endpoints: faults, payments on demand, the book. Loopback only, JSON. */

import { z } from 'zod'
import { ispbForm, taxIdForm } from '#codecs/taxpayer'
import { demandStruck, faultsBody, jsonIn } from '../counterparty.ts'
import { readingJourneys, readRecurrencePayload, type ShownRecurrence } from './authorizations.ts'
import type { Book } from './book.ts'
import type { PaidCharge } from './drafts.ts'
import { type Fault, type FaultPlan, faultKinds, struckOperations } from './faults.ts'
import type { Channel } from './options.ts'
import type { Payers } from './payers.ts'
import type { IsFull } from './post-office.ts'
import type { Answer } from './problem.ts'
import { type ReadCode, UnpaidError } from './reading.ts'

/** @param path with its query */
export type Control = (
  method: string,
  path: string,
  body: Uint8Array | 'too_large',
) => Promise<Answer>

export type Authorize = (shown: ShownRecurrence, journey: (typeof readingJourneys)[number]) => void

export type PayIn = (payment: {
  readonly to: string
  readonly amountCents: bigint
  readonly channel?: Channel
  /** Absent: a payment by key to somebody. */
  readonly charge?: PaidCharge
  /** Absent: a new one. */
  readonly endToEndId?: string
}) => string

/** @throws UnpaidError */
export type PayCode = (asked: ReadCode) => Promise<string>

const payInsMax = 100_000
/** Payments that are made before other requests have their turn. */
const turnPayInsMax = 100
const centsMax = 10 ** 15

const channel = z.enum(['primary', 'secondary'])

const setFaultsBody = faultsBody(faultKinds, {
  channel: channel.optional(),
  operation: z.enum(['send', 'read']).optional(),
  code: z
    .string()
    .regex(/^[A-Z0-9]{4}$/)
    .optional(),
}).superRefine(demandStruck(struckOperations))

const cash = z.strictObject({
  amount_cents: z.int().min(1).max(centsMax),
  agent: z.enum(['AGTEC', 'AGTOT', 'AGFSS']),
  facilitator: z.string().regex(ispbForm),
})

const payInBody = z
  .strictObject({
    to: z.string().regex(ispbForm),
    amount_cents: z.int().min(1).max(centsMax),
    count: z.int().min(1).max(payInsMax).default(1),
    channel: channel.default('primary'),
    charge: z
      .strictObject({
        txid: z.string().regex(/^[A-Za-z0-9]{26,35}$/),
        tax_id: z.string().regex(taxIdForm),
        key: z.string().regex(/^[!-~]{1,77}$/),
        cash: cash.optional(),
      })
      .optional(),
  })
  .refine(({ amount_cents: cents, charge }) => (charge?.cash?.amount_cents ?? 0) <= cents, {
    error: 'must not be more than is paid',
    path: ['charge', 'cash', 'amount_cents'],
  })

const codeCharsMax = 1_024

const payCodeBody = z
  .strictObject({
    code: z.string().min(1).max(codeCharsMax),
    pay_on: z.iso.date().optional(),
    to: z.string().regex(ispbForm).optional(),
    tax_id: z.string().regex(taxIdForm).optional(),
  })
  .refine(({ to, tax_id: taxId }) => (to === undefined) === (taxId === undefined), {
    error: 'goes with to',
    path: ['tax_id'],
  })

const payChargeBody = z.strictObject({
  end_to_end_id: z.string().regex(/^E[0-9A-Z]{8}\d{12}[A-Za-z0-9]{11}$/),
  channel: channel.optional(),
})

const giveBackBody = z.strictObject({
  end_to_end_id: z.string().regex(/^E[0-9A-Z]{8}\d{12}[A-Za-z0-9]{11}$/),
  amount_cents: z.int().min(1).max(centsMax),
  reason: z.enum(['BE08', 'FR01', 'MD06', 'SL02']).default('MD06'),
})

const payloadCharsMax = 65_536

const authorizeBody = z.strictObject({
  payload: z
    .string()
    .max(payloadCharsMax)
    .transform((jws, context) => {
      const read = readRecurrencePayload(jws.trim())
      if (read !== undefined) return read
      context.addIssue({ code: 'custom', message: 'must be the payload of a recurrence, a JWS' })
      return z.NEVER
    }),
  journey: z.literal(readingJourneys).default(2),
})

const mandateBody = z.strictObject({ to: z.string().regex(ispbForm) })

const json = (status: number, value: unknown): Answer => ({
  status,
  headers: { 'Content-Type': 'application/json' },
  body: JSON.stringify(value, (_, item: unknown) =>
    typeof item === 'bigint' ? String(item) : item,
  ),
})

const refused = (error: z.ZodError): Answer =>
  json(400, {
    error: 'bad_request',
    problems: error.issues.map(({ path, message }) => ({ path: path.join('/'), message })),
  })

const paidCharge = (asked: NonNullable<z.infer<typeof payInBody>['charge']>): PaidCharge => {
  const { txid, tax_id: taxId, key, cash: taken } = asked
  if (taken === undefined) return { txid, taxId, key }
  const { amount_cents: cents, ...by } = taken
  return { txid, taxId, key, cash: { cents: BigInt(cents), ...by } }
}

type Body = Uint8Array | 'too_large'
type Operation = (body: Body) => Answer | Promise<Answer>

const taking =
  <T>(schema: z.ZodType<T>, act: (asked: T) => Answer | Promise<Answer>): Operation =>
  (body) => {
    const asked = schema.safeParse(body === 'too_large' ? undefined : jsonIn(body))
    return asked.success ? act(asked.data) : refused(asked.error)
  }

export type ControlDeps = {
  readonly faults: FaultPlan
  readonly payIn: PayIn
  readonly payCode: PayCode
  readonly giveBack: (endToEndId: string, amountCents: bigint, reason: string) => string | undefined
  readonly payCharge: Payers['payCharge']
  readonly askMandate: (to: string) => string
  readonly authorize: Authorize
  readonly book: () => Book
  readonly statistics: () => unknown
  readonly isFull: IsFull
}

/** Pays until the bank is full, and tells which payments were made. */
const payInMany = async (
  { to, amount_cents: cents, count, channel: by, charge }: z.infer<typeof payInBody>,
  { payIn, isFull }: ControlDeps,
): Promise<Answer> => {
  const payment = {
    to,
    amountCents: BigInt(cents),
    channel: by,
    ...(charge && { charge: paidCharge(charge) }),
  }
  const ids: string[] = []
  while (ids.length < count) {
    if (isFull(to, by)) return json(503, { error: 'full', end_to_end_ids: ids })
    ids.push(payIn(payment))
    if (ids.length % turnPayInsMax === 0) await turn()
  }
  return json(201, { end_to_end_ids: ids })
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

/**
 * As {@link taking}, for acts that send a message: refuses them while the bank is full. @param to whom, if the body
 * says
 */
const sending = <T>(
  { isFull }: ControlDeps,
  schema: z.ZodType<T>,
  act: (asked: T) => Answer | Promise<Answer>,
  to: (asked: T) => string | undefined = () => undefined,
): Operation =>
  taking(schema, (asked) => (isFull(to(asked)) ? json(503, { error: 'full' }) : act(asked)))

const readAndPay = async (
  { code, pay_on: payOn, to, tax_id: taxId }: z.infer<typeof payCodeBody>,
  { payCode }: ControlDeps,
): Promise<Answer> => {
  const receiver = to === undefined || taxId === undefined ? undefined : { to, taxId }
  try {
    return json(201, { end_to_end_ids: [await payCode({ code, payOn, receiver })] })
  } catch (error) {
    if (!(error instanceof UnpaidError)) throw error
    return json(error.status, { error: error.code, message: error.message })
  }
}

/** By method and path. */
const operationsOf = (deps: ControlDeps): Readonly<Record<string, Operation>> => {
  const setFaults = taking(setFaultsBody, (faults) => {
    // A member that is absent is the same as one that is undefined.
    deps.faults.set(faults as readonly Fault[])
    return json(200, deps.faults.active())
  })
  return {
    'GET /simulator/faults': () => json(200, deps.faults.active()),
    'PUT /simulator/faults': setFaults,
    'POST /simulator/faults': setFaults,
    'POST /simulator/pay-in': taking(payInBody, (asked) => payInMany(asked, deps)),
    'POST /simulator/pay-code': sending(deps, payCodeBody, (asked) => readAndPay(asked, deps)),
    'POST /simulator/give-back': sending(deps, giveBackBody, (asked) => {
      const { end_to_end_id: of, amount_cents: cents, reason } = asked
      const id = deps.giveBack(of, BigInt(cents), reason)
      return id === undefined
        ? json(404, { error: 'not_returnable' })
        : json(201, { return_id: id })
    }),
    'POST /simulator/pay-charge': sending(
      deps,
      payChargeBody,
      ({ end_to_end_id: id, channel: by }) =>
        deps.payCharge(id, by)
          ? json(201, { end_to_end_ids: [id] })
          : json(404, { error: 'not_scheduled' }),
    ),
    'POST /simulator/mandate': sending(
      deps,
      mandateBody,
      ({ to }) => json(201, { mandate_id: deps.askMandate(to) }),
      ({ to }) => to,
    ),
    'POST /simulator/authorize': sending(
      deps,
      authorizeBody,
      ({ payload, journey }) => {
        deps.authorize(payload, journey)
        return json(201, { mandate_id: payload.idRec })
      },
      ({ payload }) => payload.recebedor.ispbParticipante,
    ),
    'GET /simulator/book': () => json(200, deps.book()),
    'GET /simulator/statistics': () => json(200, deps.statistics()),
  }
}

export const createControl = (deps: ControlDeps): Control => {
  const operations = operationsOf(deps)
  return async (method, path, body) => {
    const name = `${method} ${path}`
    const operation = Object.hasOwn(operations, name) ? operations[name] : undefined
    if (operation !== undefined) return operation(body)
    return json(404, { error: 'not_found', endpoints: Object.keys(operations) })
  }
}
