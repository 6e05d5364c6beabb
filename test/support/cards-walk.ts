/** Payments that go through all operations of cards, and what both books have of them in the end. */
import type { CardNetwork } from '../../src/simulators/card-network/index.ts'
import { authorizationBody } from './cards-rig.ts'
import type { TestDatabase } from './database.ts'

/** Up to this a network that is away has it decided here. */
export const floorCents = 90_000
const stepsMax = 8
/** Every so many payments one has a card that the network lies about. */
const lyingEvery = 4

const lies = [
  ...(['timeout', 'late', 'drop', 'drop_before', 'garbage', 'duplicate'] as const),
  ...(['wrong_amount', 'wrong_rrn', 'wrong_terminal', 'wrong_card'] as const),
  ...(['lost', 'arrives_late', 'half_open', 'partial', 'declined_51'] as const),
  ...(['void_timeout', 'increment_timeout', 'capture_declined', 'refund_declined'] as const),
]

export type Pick = (below: number) => number
export type Ask = { readonly path: string; readonly body: unknown; readonly key: string }

/** The first message of payment `number`: an authorization, of some with the capture, or a verification. */
export const openingOf = (number: number, pick: Pick): Ask => {
  const brand = number % 2 === 0 ? 'visa' : 'mastercard'
  const turn = Math.floor(number / 2)
  const isLying = turn % lyingEvery === 0
  const lie = lies[Math.floor(turn / lyingEvery) % lies.length]
  const token = `tok_${brand}_${isLying ? lie : 'approved'}`
  // Decided here, what its network lies about for ever would never be told.
  const amount = isLying ? floorCents + 1 + pick(floorCents) : 100 + pick(floorCents - 100)
  const key = `open-${number}`
  if (pick(20) === 0) {
    const { amount: _, ...card } = authorizationBody(token)
    return { path: '/verify', body: card, key }
  }
  const choices = { amount, accept_partial: pick(2) === 0, capture: pick(10) === 0 }
  return { path: '/authorize', body: authorizationBody(token, choices), key }
}

const steps = [
  // Small ones, so that several fit before a void.
  (cents: number) => ['capture', { amount: Math.ceil(cents / 4), final: false }] as const,
  (cents: number) => ['capture', { amount: Math.ceil(cents / 4), final: false }] as const,
  (cents: number) => ['capture', { amount: cents, final: false }] as const,
  (cents: number) => ['capture', { amount: cents }] as const,
  () => ['capture', {}] as const,
  (cents: number) => ['increment', { amount: cents }] as const,
  (cents: number) => ['void', { amount: cents }] as const,
  () => ['void', undefined] as const,
  (cents: number) => ['refund', { amount: cents }] as const,
] as const

/** What is asked of the transaction, one after the other. */
export const stepsOf = (id: string, number: number, pick: Pick): readonly Ask[] =>
  Array.from({ length: pick(stepsMax + 1) }, (_, step) => {
    const choose = steps[pick(steps.length)] ?? steps[0]
    const [path, body] = choose(1 + pick(20_000))
    return { path: `/${id}/${path}`, body, key: `step-${number}-${step}` }
  })

type Numbers = { readonly transmission: string; readonly stan: string; readonly rrn: string }
type Row = Numbers & {
  readonly id: string
  readonly network: string
  readonly status: string
  readonly amount: number
  readonly captured: number
  readonly reversed: number
  readonly refunded: number
}

const keyOf = ({ transmission, stan, rrn }: Numbers): string => `${transmission} ${stan} ${rrn}`

/** In cents: what is on hold and not captured, what is captured, what is given back. */
const ours = ({ status, amount, reversed, captured, refunded }: Row): string =>
  status === 'authorized' || status === 'captured'
    ? `held ${amount - reversed - captured} captured ${captured} refunded ${refunded}`
    : 'held 0 captured 0 refunded 0'

const theirs = (entry: ReturnType<CardNetwork['book']>[number]): string => {
  const held = entry.authorizedAmount - entry.reversedAmount - entry.capturedAmount
  return `held ${held} captured ${entry.capturedAmount} refunded ${entry.refundedAmount}`
}

const nothing = 'held 0 captured 0 refunded 0'

/** Where our book and those of the networks differ: each transaction is in both, with the same cents. */
export const differences = async (
  { sql }: TestDatabase,
  networks: Readonly<Record<string, CardNetwork>>,
): Promise<readonly string[]> => {
  const rows = await sql<Row[]>`
    select id, network, transmission, stan, rrn, status, amount_cents::int as amount,
      coalesce(captured_cents, 0)::int as captured, coalesce(reversed_cents, 0)::int as reversed,
      coalesce(refunded_cents, 0)::int as refunded
    from card_transactions`
  const unseen = new Map(rows.map((row) => [`${row.network} ${keyOf(row)}`, row]))
  const wrong: string[] = []
  for (const [name, network] of Object.entries(networks)) {
    for (const entry of network.book()) {
      const key = `${name} ${keyOf(entry)}`
      const row = unseen.get(key)
      unseen.delete(key)
      if (row === undefined) wrong.push(`${key}: unknown to us, ${theirs(entry)}`)
      else if (ours(row) !== theirs(entry)) {
        wrong.push(`${row.id} ${key}: ${row.status} ${ours(row)}, network ${theirs(entry)}`)
      }
      // An advice may come again.
      if (entry.mti === '0100' && entry.requests !== 1) {
        wrong.push(`${key}: authorized ${entry.requests} times`)
      }
    }
  }
  for (const [key, row] of unseen) {
    if (ours(row) !== nothing)
      wrong.push(`${row.id} ${key}: ${row.status} ${ours(row)}, network nothing`)
  }
  return wrong
}

/** What happened to the transactions that differ, for whoever looks into it. */
export const historyOf = async ({ sql }: TestDatabase, wrong: readonly string[]) => {
  const ids = wrong.map((line) => line.split(' ', 1)[0] ?? '')
  if (ids.length === 0) return []
  const rows = await sql`
    select transaction_id, at, type, data from card_events
    where transaction_id in ${sql(ids)}
    union all
    select transaction_id, created_at, 'row ' || status || ' ' || reverses, to_jsonb(r)
    from card_reversals r where transaction_id in ${sql(ids)}
    order by 1, 2`
  return rows.map((row) => JSON.stringify(row))
}
