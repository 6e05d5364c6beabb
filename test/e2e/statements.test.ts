/** Every statement of a whole round trip, as the server counts them: what each reads, and how many a payment takes. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { storeMany } from '../spi/messages/stored.ts'
import { engines, type StatementCost } from '../support/engines.ts'
import { isLong } from '../support/page-budgets.ts'
import { startRoundTrip } from '../support/round-trip.ts'

const stored = isLong ? 1_000_000 : 20_000
const payments = 200
const atOnce = 20
const lone = 20
/** Pages of one execution, for up to `atOnce` payments, with an own row or index entry each in up to ten places. */
const pagesMax = 60 * atOnce
/** Statements of a payment that comes with others, from its request to its answer. */
const statementsMax = 6
/**
 * Statements of a payment that comes alone: the same ones, whose transactions begin for it alone, without those that
 * tell subscribers of its changes.
 */
const aloneMax = 12
const turnsMax = 8
const timeoutMs = 300_000

const callsOf = (costs: readonly StatementCost[]): number =>
  costs.reduce((sum, { calls }) => sum + calls, 0)

const pagesOf = (costs: readonly StatementCost[]): number =>
  costs.reduce((sum, { calls, pagesPerCall }) => sum + calls * pagesPerCall, 0)

const isOfEvents = ({ text }: StatementCost): boolean =>
  /^\s*with\s+event_given|pg_notify\(/.test(text)

describe.each(engines.map((engine) => [engine.name, engine] as const))('%s', (_, engine) => {
  let trip: Awaited<ReturnType<typeof startRoundTrip>>

  beforeAll(async () => {
    trip = await startRoundTrip(engine)
  }, timeoutMs)

  afterAll(() => trip[Symbol.asyncDispose]())

  test(
    'each reads the same whatever is stored, and a payment takes few',
    async () => {
      await trip.pay(payments, atOnce)
      const few = await trip.pay(payments, atOnce)
      await storeMany(trip.sql, stored, 40)
      const many = await trip.pay(payments, atOnce)
      expect(many.filter(({ pagesPerCall }) => pagesPerCall > pagesMax)).toEqual([])
      expect(callsOf(many) / payments).toBeLessThan(statementsMax)
      expect(pagesOf(many)).toBeLessThan(2 * pagesOf(few))
      // On a machine that is busy answers are asked for again, or come before they are waited for: that adds, and never
      // takes away.
      let least = Number.POSITIVE_INFINITY
      for (let turn = 0; turn < turnsMax && least > aloneMax; turn++) {
        const alone = (await trip.pay(lone, 1)).filter((cost) => !isOfEvents(cost))
        least = Math.min(least, callsOf(alone) / lone)
      }
      expect(least).toBeLessThanOrEqual(aloneMax)
    },
    timeoutMs,
  )
})
