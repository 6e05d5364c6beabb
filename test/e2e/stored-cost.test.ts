/** What a payment reads of the database behind a thousand, a hundred thousand and a million stored messages. */
import { describe, expect, test } from 'bun:test'
import { storeMany } from '../spi/messages/stored.ts'
import { engines } from '../support/engines.ts'
import { isLong } from '../support/page-budgets.ts'
import { startRoundTrip } from '../support/round-trip.ts'

const sizes = [1_000, 100_000, 1_000_000]
const days = 40
const payments = 50
/** On a machine that is busy answers are asked for again: that adds, and never takes away. */
const turns = 3
/** Each index of a table that a payment writes to may have a level more, or two: nothing else may grow. */
const growthMax = 1.3
const timeoutMs = 2_400_000

describe.skipIf(!isLong).each(engines.map((engine) => [engine.name, engine] as const))(
  '%s',
  (_, engine) => {
    test(
      'a payment reads three tenths more at most behind a million than behind a thousand',
      async () => {
        await using trip = await startRoundTrip(engine)
        const least = async (): Promise<number> => {
          let pages = Number.POSITIVE_INFINITY
          for (let turn = 0; turn < turns; turn++) {
            const costs = await trip.pay(payments, 1)
            const all = costs.reduce((sum, cost) => sum + cost.calls * cost.pagesPerCall, 0)
            pages = Math.min(pages, all / payments)
          }
          return pages
        }
        const seen: number[] = []
        for (const [at, size] of sizes.entries()) {
          const first = sizes[at - 1] ?? 0
          await storeMany(trip.sql, size - first, days, first)
          await trip.sql.unsafe('set local statement_timeout = 0; analyze')
          seen.push(await least())
        }
        const [few = 0] = seen
        expect(seen.map((pages) => pages / few).filter((growth) => growth > growthMax)).toEqual([])
      },
      timeoutMs,
    )
  },
)
