/** Every statement of a whole round trip, as the server counts them: what each reads, and how many a payment takes. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { TransactionalBroker } from '#src/platform/broker/index.ts'
import { createMetrics } from '#src/platform/observe/index.ts'
import { createPull } from '#src/spi/in/pull/index.ts'
import { createMessages } from '#src/spi/index.ts'
import { createCentralBank } from '../../src/simulators/central-bank/index.ts'
import { workerOn } from '../spi/in/worker/support.ts'
import { interfaceClient } from '../spi/link/support.ts'
import { storeMany } from '../spi/messages/stored.ts'
import { ispb, rigOn } from '../spi/out/stage/support.ts'
import { keptForEver, quietLogger } from '../support/database.ts'
import {
  costsOf,
  engines,
  type RunningEngine,
  type StatementCost,
  startEngine,
} from '../support/engines.ts'
import { isLong } from '../support/page-budgets.ts'
import { subscribe } from '../support/webhooks.ts'

const stored = isLong ? 1_000_000 : 20_000
const payments = 200
const atOnce = 20
const lone = 20
/** Pages of one execution, for up to `atOnce` payments, with an own row or index entry each in up to ten places. */
const pagesMax = 60 * atOnce
/** Of a payment that comes with others, from its request to its answer. */
const statementsMax = 6
/**
 * Of one that comes alone: the same statements, whose transactions begin for it alone, without those that tell
 * subscribers of its changes.
 */
const aloneMax = 12
const turnsMax = 8
const timeoutMs = 300_000

const callsOf = (costs: readonly StatementCost[]): number =>
  costs.reduce((sum, { calls }) => sum + calls, 0)

const pagesOf = (costs: readonly StatementCost[]): number =>
  costs.reduce((sum, { calls, pagesPerCall }) => sum + calls * pagesPerCall, 0)

/** Asked again and again, whether there is work or not, or by this test. */
const isPoll = ({ text }: StatementCost): boolean =>
  /group by status$|job_leases|broker_members|broker_lanes|broker_backlogs|^select row\.\*/i.test(
    text,
  )

const isOfEvents = ({ text }: StatementCost): boolean => /^\s*with\s+event_rows/.test(text)

describe.each(engines.map((engine) => [engine.name, engine] as const))('%s', (_, engine) => {
  let server: RunningEngine
  let close: () => Promise<void>
  let run: (count: number, together?: number) => Promise<readonly StatementCost[]>
  let fill: () => Promise<void>

  beforeAll(async () => {
    server = await startEngine(engine)
    const opened = server.open(10)
    const { sql } = opened
    const database = { ...opened, dsn: server.dsn, ping: async () => true }
    const messages = createMessages({ sql, ...keptForEver, logger: quietLogger })
    await messages.start?.()
    await messages.drain?.()
    await subscribe(sql, ['message.status'])
    const bank = await createCentralBank({ longPollMs: 50, openingBalanceCents: 10n ** 12n })
    const urls = { PRIMARY: bank.url, SECONDARY: bank.secondaryUrl }
    const client = interfaceClient(urls, { attemptsMax: 1 }, ispb)
    // As in a process: what reads a lane itself tells nobody of it.
    let shared: TransactionalBroker | undefined
    const share = (broker: TransactionalBroker): TransactionalBroker => (shared ??= broker)
    const rig = await rigOn(database as never, share)
    const worker = await workerOn(database as never, {}, quietLogger, share)
    const pull = createPull({
      ...{ client, broker: worker.broker, settings: { streams: 1 }, logger: quietLogger },
      metrics: createMetrics({ version: 'test', withProcess: false }),
    })
    const stages = [rig.outbound(client), worker.feature, pull]
    for (const stage of stages) await stage.start?.()
    let paid = 0
    run = (count, together = atOnce) =>
      costsOf(sql, async () => {
        const before = (await rig.statuses())['ACCEPTED'] ?? 0
        for (paid = 0; paid < count; paid += together) {
          await rig.pay(together)
          await rig.until('ACCEPTED', before + paid + together)
        }
      })
    fill = () => storeMany(sql, stored, 40)
    close = async () => {
      for (const stage of stages) await stage.drain?.()
      for (const stage of stages) await stage.stop?.()
      await rig.broker.stop()
      await worker.stop()
      await bank.stop()
      await opened.close()
      await server[Symbol.asyncDispose]()
    }
  }, timeoutMs)

  afterAll(() => close())

  test(
    'each reads the same whatever is stored, and a payment takes few',
    async () => {
      await run(payments)
      const few = await run(payments)
      await fill()
      const many = await run(payments)
      const own = many.filter((cost) => !isPoll(cost))
      expect(own.filter(({ pagesPerCall }) => pagesPerCall > pagesMax)).toEqual([])
      const before = few.filter((cost) => !isPoll(cost))
      expect(callsOf(own) / payments).toBeLessThan(statementsMax)
      expect(pagesOf(own)).toBeLessThan(2 * pagesOf(before))
      // On a machine that is busy answers are asked for again, or come before they are waited for: that adds, and never
      // takes away.
      let least = Number.POSITIVE_INFINITY
      for (let turn = 0; turn < turnsMax && least >= aloneMax; turn++) {
        const alone = (await run(lone, 1)).filter((cost) => !isPoll(cost) && !isOfEvents(cost))
        least = Math.min(least, callsOf(alone) / lone)
      }
      expect(least).toBeLessThan(aloneMax)
    },
    timeoutMs,
  )
})
