/** What callers of cards do, in any order, and what becomes of it at the network. */
import fc from 'fast-check'
import { type Fate, fates } from './lying-ledger.ts'

/** Payments at the same time. */
const together = 32

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
export type Step = {
  readonly act: keyof typeof acts
  readonly cents: number
  readonly fate: Fate
  /** Once nothing is under way any more. */
  readonly waits: boolean
  /** Another process takes it for abandoned when it is on the wire. */
  readonly isTaken: boolean
}
export type Payment = {
  readonly fate: Fate
  /** Its caller takes a part of what it asks for. */
  readonly takesPart: boolean
  readonly steps: readonly Step[]
  /** The fates of the reversals and advices that the gateway sends by itself, in turn; all later ones are done. */
  readonly reversals: readonly Fate[]
}
export type Round = {
  readonly payments: readonly Payment[]
  /** The network signs off and on. */
  readonly isAway: boolean
}

const anyAct = fc.oneof(
  ...Object.entries(acts).map(([act, weight]) => ({
    weight,
    arbitrary: fc.constant(act as Step['act']),
  })),
)
const anyStep = (anyFate: fc.Arbitrary<Fate>): fc.Arbitrary<Step> =>
  fc.record({
    act: anyAct,
    cents: fc.integer({ min: 1, max: 3_000 }),
    fate: anyFate,
    waits: fc.boolean(),
    isTaken: fc.oneof(
      { weight: 7, arbitrary: fc.constant(false) },
      { arbitrary: fc.constant(true), weight: 1 },
    ),
  })
const anyPayment = (anyFate: fc.Arbitrary<Fate>): fc.Arbitrary<Payment> =>
  fc.record({
    fate: fc.oneof(
      { weight: 4, arbitrary: fc.constant<Fate>('done') },
      { weight: 1, arbitrary: anyFate },
      { weight: 1, arbitrary: fc.constant<Fate>('done in part') },
    ),
    takesPart: fc.boolean(),
    steps: fc.array(anyStep(anyFate), { maxLength: 10, size: 'max' }),
    reversals: fc.array(anyFate, { maxLength: 3 }),
  })

/** @param without what the network never does */
export const anyRound = (paymentsMin = 1, without?: Fate): fc.Arbitrary<Round> => {
  const anyFate = fc.oneof(
    { weight: 3, arbitrary: fc.constant<Fate>('done') },
    { weight: 2, arbitrary: fc.constantFrom(...fates.filter((fate) => fate !== without)) },
  )
  const payments = { minLength: paymentsMin, maxLength: together, size: 'max' } as const
  return fc.record({
    payments: fc.array(anyPayment(anyFate), payments),
    isAway: fc.boolean(),
  })
}
