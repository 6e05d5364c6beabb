import { expect, setDefaultTimeout, test } from 'bun:test'
import type { BookEntry } from '../../src/simulators/card-network/book.ts'
import {
  authorizationBody,
  type CardRecord,
  type CardsRig,
  createCardsRig,
} from '../support/cards-rig.ts'

/*
 * Walks through all operations, while the network loses, delays, doubles, alters and refuses what it answers. In the
 * end no hold is without an owner, and both books are equal to the cent. TRILHO_LONG=1 walks through 100 000 payments.
 */

const isLong = Bun.env['TRILHO_LONG'] === '1'
const payments = isLong ? 100_000 : 120
const atOnce = isLong ? 64 : 24
const stepsMax = 8

setDefaultTimeout(isLong ? 14_400_000 : 120_000)

const faults = {
  ...{ no_answer: 0.02, late: 0.02, garbage: 0.02, duplicate: 0.05, decline: 0.05, partial: 0.05 },
  ...{ wrong_amount: 0.01, wrong_rrn: 0.01, wrong_terminal: 0.01 },
  ...{ drop_after: 0.002, drop_before: 0.002 },
}

/** The same numbers from 0 to 1 for the same seed (a linear congruential generator). */
const numbersFrom = (seed: number): (() => number) => {
  let state = seed
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
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
]

type Body = {
  readonly id?: string
  readonly error?: { readonly details: { readonly transaction_id?: string } }
}

/** What a caller may be told: done, not possible now, refused by the network, unknown, no vault. */
const expected: ReadonlySet<number> = new Set([200, 201, 400, 409, 422, 502, 503, 504])

const told = async (response: Response): Promise<Body> => {
  const text = await response.text()
  if (!expected.has(response.status)) throw new Error(`${response.status} ${text}`)
  return JSON.parse(text) as Body
}

/** @returns the id; undefined for what was never written */
const walk = async ({ post }: CardsRig, random: () => number): Promise<string | undefined> => {
  const body = authorizationBody('tok_visa_approved', {
    accept_partial: random() < 0.5,
    capture: random() < 0.1,
  })
  const { amount: _, accept_partial: __, capture: ___, ...card } = body as Record<string, unknown>
  const isVerified = random() < 0.05
  const opened = await told(
    await post(`/v1/transactions/${isVerified ? 'verify' : 'authorize'}`, isVerified ? card : body),
  )
  const id = opened.id ?? opened.error?.details.transaction_id
  if (id === undefined) return undefined
  const count = Math.floor(random() * (stepsMax + 1))
  for (let step = 0; step < count; step++) {
    const choose = steps[Math.floor(random() * steps.length)] ?? steps[0]!
    const [path, change] = choose(1 + Math.floor(random() * 6_000))
    await told(await post(`/v1/transactions/${id}/${path}`, change))
  }
  return id
}

/** In cents: what is on hold and not captured, what is captured, what is given back. */
type Sums = { readonly held: number; readonly captured: number; readonly refunded: number }

const ours = (record: CardRecord): Sums => {
  const of = (name: string): number => Number(record[name] ?? 0)
  const isOpen = record.status === 'authorized' || record.status === 'captured'
  if (!isOpen) return { held: 0, captured: 0, refunded: 0 }
  const captured = of('captured_amount')
  return {
    held: of('amount') - of('reversed_amount') - captured,
    captured,
    refunded: of('refunded_amount'),
  }
}

const theirs = (entry: Readonly<BookEntry> | undefined): Sums =>
  entry === undefined
    ? { held: 0, captured: 0, refunded: 0 }
    : {
        held: entry.authorizedAmount - entry.reversedAmount - entry.capturedAmount,
        captured: entry.capturedAmount,
        refunded: entry.refundedAmount,
      }

test(`${payments} payments of all operations leave both books equal`, async () => {
  await using rig = await createCardsRig({ timeoutMs: 400, windowMs: 1_000, poolSize: 4 })
  const [network] = rig.simulators
  network.setFaults(faults)
  const ids: string[] = []
  let left = payments
  await Promise.all(
    Array.from({ length: atOnce }, async (_, lane) => {
      const random = numbersFrom(lane + 1)
      while (left-- > 0) {
        const id = await walk(rig, random)
        if (id !== undefined) ids.push(id)
      }
    }),
  )
  network.setFaults({})
  const deadline = performance.now() + 60_000
  for (;;) {
    const [open] = await rig.database.sql`
      select (select count(*) from card_reversals where status = 'pending')
        + (select count(*) from card_transactions where status = 'pending' or operation is not null)
        as count`
    if (Number(open?.['count']) === 0) break
    if (performance.now() > deadline) throw new Error(`${open?.['count']} are not settled`)
    await Bun.sleep(20)
  }
  const book = new Map(network.book().map((entry) => [entry.rrn, entry]))
  for (const id of ids) {
    const record = await rig.settled(id)
    const rrn = String(record['rrn'])
    expect([id, ours(record)]).toEqual([id, theirs(book.get(rrn))])
    book.delete(rrn)
  }
  expect([...book.values()].filter((entry) => theirs(entry).held > 0)).toEqual([])
})
