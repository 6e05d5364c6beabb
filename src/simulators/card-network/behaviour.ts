import { luhnSum } from '#src/platform/security/index.ts'

/**
 * How the simulated network treats a card, and the two-digit number KK that asks for it: in a test card
 * number (`400000 KK CC 00000 L`, `510000 KK CC 00000 L`; L is the check digit) and in an amount (`99KKCC` cents).
 * CC is the argument: a response code, tens of milliseconds or a number of messages.
 */
export const behaviours = {
  approve: 0,
  /** Answers with response code CC. */
  decline: 1,
  /** Acts on it and does not answer. */
  no_answer: 2,
  /** Acts on it and answers after `lateMs`. */
  late: 3,
  /** Closes the connection without acting on it. */
  drop_before: 4,
  /** Acts on it, then closes the connection. */
  drop_after: 5,
  /** Acts on it, then answers with a frame that holds no message. */
  garbage: 6,
  /** Answers with another amount, RRN, terminal. */
  wrong_amount: 7,
  wrong_rrn: 8,
  wrong_terminal: 9,
  /** Answers twice. */
  duplicate: 10,
  /** Answers after CC × 10 ms. */
  delay: 11,
  /** Approves; acts on reversals, but leaves the first CC of them unanswered. */
  void_no_answer: 12,
  /** Approves; answers every reversal with response code CC. */
  void_decline: 13,
  /** Approves the authorization, answers captures with response code CC. */
  capture_decline: 14,
  /** Approves the authorization, acts on captures and does not answer them. */
  capture_no_answer: 15,
  /** Approves all but refunds: answers them with response code CC. */
  refund_decline: 16,
  /** Acts on refunds and does not answer them. */
  refund_no_answer: 17,
  /** Approves CC percent of an authorization, and tells the balance of the account. */
  partial: 18,
  /** Approves the authorization, answers increments with response code CC. */
  increment_decline: 19,
  /** Acts on increments and does not answer them. */
  increment_no_answer: 20,
  /** Acts on it, answers 91, and then with what it has done. */
  contradict: 21,
  /** Answers with another card number. */
  wrong_card: 22,
  /** The network never sees the message. */
  lost: 23,
  /** Sees it, and answers, after `lateMs`. */
  arrive_late: 24,
  /** Hears nothing more over this connection, and leaves it open. */
  half_open: 25,
} as const

export type BehaviourName = keyof typeof behaviours
export type Behaviour = { readonly name: BehaviourName; readonly argument: number }

export const approve: Behaviour = { name: 'approve', argument: 0 }
export const noAnswer: Behaviour = { name: 'no_answer', argument: 0 }

/** The act of a message on a present payment. */
export type Kind = 'void' | 'increment' | 'capture' | 'refund'

const ofKindForm = /^(void|increment|capture|refund)_(?:decline|no_answer)$/

/** True if the behaviour concerns messages of one kind alone. */
export const isOfKind = ({ name }: Behaviour): boolean => ofKindForm.test(name)

/** What a behaviour asks for with a message of that kind; undefined if it concerns only others. */
export const askedOf = (behaviour: Behaviour, kind: Kind | undefined): Behaviour | undefined => {
  const [, of] = ofKindForm.exec(behaviour.name) ?? []
  if (of === undefined) return behaviour
  if (of !== kind) return undefined
  return behaviour.name.endsWith('_no_answer') ? noAnswer : behaviour
}

const byNumber: ReadonlyMap<number, BehaviourName> = new Map(
  Object.entries(behaviours).map(([name, number]) => [number, name as BehaviourName]),
)

const behaviourOf = (number: number, argument: number): Behaviour => {
  const name = byNumber.get(number)
  return name === undefined || name === 'approve' ? approve : { name, argument }
}

const digitsAt = (pan: Uint8Array, from: number, count: number): number => {
  let value = 0
  for (let at = from; at < from + count; at++) value = value * 10 + (pan[at] ?? 0) - 0x30
  return value
}

/** The behaviour that a card number asks for; any number but a test card's asks for approval. */
export const behaviourOfPan = (pan: Uint8Array): Behaviour => {
  const prefix = digitsAt(pan, 0, 6)
  if (pan.length !== 16 || (prefix !== 400_000 && prefix !== 510_000)) return approve
  return behaviourOf(digitsAt(pan, 6, 2), digitsAt(pan, 8, 2))
}

/** The behaviour that an amount asks for: 990000 to 999999 cents do, other amounts ask for nothing. */
export const behaviourOfAmount = (cents: number): Behaviour =>
  cents >= 990_000 && cents <= 999_999
    ? behaviourOf(Math.floor(cents / 100) % 100, cents % 100)
    : approve

/** True when the last digit is the check digit of the others. */
export const passesLuhn = (pan: Uint8Array): boolean => pan.length > 0 && luhnSum(pan) % 10 === 0

const prefixes = { visa: '400000', mastercard: '510000' } as const
export type TestBrand = keyof typeof prefixes

/** ASCII digits of the test card of that behaviour. */
export const testPan = (brand: TestBrand, { name, argument }: Behaviour): Uint8Array => {
  const two = (value: number): string => String(value).padStart(2, '0')
  const pan = new TextEncoder().encode(
    `${prefixes[brand]}${two(behaviours[name])}${two(argument)}000000`,
  )
  pan[15] = 0x30 + ((10 - (luhnSum(pan) % 10)) % 10)
  return pan
}

const declines = [1, 5, 14, 51, 54, 55, 57, 91, 96] as const

const cases: readonly (readonly [name: string, behaviour: Behaviour])[] = [
  ['approved', approve],
  ...declines.map(
    (code) =>
      [`declined_${String(code).padStart(2, '0')}`, { name: 'decline', argument: code }] as const,
  ),
  ['timeout', { name: 'no_answer', argument: 0 }],
  ['late', { name: 'late', argument: 0 }],
  ['drop', { name: 'drop_after', argument: 0 }],
  ['drop_before', { name: 'drop_before', argument: 0 }],
  ['garbage', { name: 'garbage', argument: 0 }],
  ['wrong_amount', { name: 'wrong_amount', argument: 0 }],
  ['wrong_rrn', { name: 'wrong_rrn', argument: 0 }],
  ['wrong_terminal', { name: 'wrong_terminal', argument: 0 }],
  ['duplicate', { name: 'duplicate', argument: 0 }],
  ['slow', { name: 'delay', argument: 50 }],
  ['void_timeout', { name: 'void_no_answer', argument: 1 }],
  ['void_declined', { name: 'void_decline', argument: 57 }],
  ['capture_declined', { name: 'capture_decline', argument: 5 }],
  ['capture_timeout', { name: 'capture_no_answer', argument: 0 }],
  ['refund_declined', { name: 'refund_decline', argument: 5 }],
  ['partial', { name: 'partial', argument: 40 }],
  ['increment_declined', { name: 'increment_decline', argument: 51 }],
  ['increment_timeout', { name: 'increment_no_answer', argument: 0 }],
  ['refund_timeout', { name: 'refund_no_answer', argument: 0 }],
  ['contradicts', { name: 'contradict', argument: 0 }],
  ['wrong_card', { name: 'wrong_card', argument: 0 }],
  ['lost', { name: 'lost', argument: 0 }],
  ['arrives_late', { name: 'arrive_late', argument: 0 }],
  ['half_open', { name: 'half_open', argument: 0 }],
]

/** The card tokens of the test vault and the digits behind them. */
export const testTokens: ReadonlyMap<string, Uint8Array> = new Map(
  (['visa', 'mastercard'] as const).flatMap((brand) =>
    cases.map(([name, behaviour]) => [`tok_${brand}_${name}`, testPan(brand, behaviour)] as const),
  ),
)
