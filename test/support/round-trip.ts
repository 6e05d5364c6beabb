import type { TransactionalBroker } from '#src/platform/broker/index.ts'
import type { Client } from '#src/platform/database/index.ts'
import { createMetrics } from '#src/platform/observe/index.ts'
import { createPull } from '#src/spi/in/pull/index.ts'
import { createMessages } from '#src/spi/index.ts'
import { createCentralBank } from '../../src/simulators/central-bank/index.ts'
import { workerOn } from '../spi/in/worker/support.ts'
import { interfaceClient } from '../spi/link/support.ts'
import { ispb, rigOn } from '../spi/out/stage/support.ts'
import { messagesForEver, quietLogger } from './database.ts'
import { costsOf, type Engine, type StatementCost, startEngine } from './engines.ts'
import { subscribe } from './webhooks.ts'

const answerMs = 40_000

/** Asked again and again, whether there is work or not, or by whoever waits here. */
const polls = [
  /job_leases|broker_members|broker_lanes|broker_backlogs|^select row\./i,
  /as paid\(id\)/,
  // Overdue, lost and doubtful messages, resends that are asked for, and answers that crossed with what they are about.
  /^\s*(select exists|select sent\.id|select from spi_resends|with due as)/,
  /^\s*select[\s\S]*(requeue_after <=|in_doubt_since)/,
]
const isPoll = ({ text }: StatementCost): boolean => polls.some((poll) => poll.test(text))

/** Looks at what subscribers are told: none of the tables that a payment itself reads. */
const untilAccepted = async (sql: Client, endToEndIds: readonly string[]): Promise<void> => {
  const endMs = performance.now() + answerMs
  for (;;) {
    const [row] = await sql<{ accepted: number }[]>`
      select count(*)::int as accepted from jsonb_array_elements_text(${JSON.stringify(endToEndIds)}::text::jsonb)
        as paid(id) cross join lateral (
          select from webhook_events where subject = paid.id and data::text like '%ACCEPTED%' limit 1
        ) event`
    if (row?.accepted === endToEndIds.length) return
    if (performance.now() > endMs) {
      throw new Error(`${row?.accepted} of ${endToEndIds.length} payments are accepted`)
    }
    await Bun.sleep(20)
  }
}

/** Every stage of outgoing payments in this process, against a simulated central bank that accepts all of them. */
export const startRoundTrip = async (engine: Engine) => {
  const server = await startEngine(engine)
  const opened = server.open(10)
  const { sql } = opened
  const database = { ...opened, dsn: server.dsn, ping: async () => true }
  const messages = createMessages({ sql, ...messagesForEver, logger: quietLogger })
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
  const worker = await workerOn(database as never, { wrap: share })
  const pull = createPull({
    client,
    broker: worker.broker,
    settings: { streams: 1 },
    logger: quietLogger,
    metrics: createMetrics({ version: 'test', withProcess: false }),
  })
  const stages = [rig.outbound(client), worker.feature, pull]
  for (const stage of stages) await stage.start?.()
  return {
    sql,
    /** The process id of the server. */
    pid: server.pid,
    /** Makes payments, `together` at once, each until its answer; what their statements cost, without polls. */
    pay: async (count: number, together: number): Promise<readonly StatementCost[]> => {
      const costs = await costsOf(sql, async () => {
        for (let paid = 0; paid < count; paid += together) {
          await untilAccepted(sql, await rig.pay(together))
        }
      })
      return costs.filter((cost) => !isPoll(cost))
    },
    [Symbol.asyncDispose]: async (): Promise<void> => {
      for (const stage of stages) await stage.drain?.()
      for (const stage of stages) await stage.stop?.()
      await rig.broker.stop()
      await worker.stop()
      await bank.stop()
      await opened.close()
      await server[Symbol.asyncDispose]()
    },
  }
}
