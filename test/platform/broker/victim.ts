/** A consumer in a process of its own, to be killed, frozen, or ended by what it handles. */
import { createPostgresBroker, type Delivery } from '#src/platform/broker/index.ts'
import { openDatabase } from '#src/platform/database/index.ts'
import { quietLogger as logger } from '../../support/database.ts'

const [dsn = '', topic = '', mode = '', leaseMs = ''] = process.argv.slice(2)
const { sql } = openDatabase({ dsn, connectionsMax: 2, statementTimeoutMs: 30_000, logger })
const times = { leaseMs: Number(leaseMs) }
const broker = createPostgresBroker({ sql, dsn, logger, times })
const textOf = ({ value }: Delivery): string => Buffer.from(value).toString()

const handlers: Readonly<Record<string, (batch: readonly Delivery[]) => Promise<void>>> = {
  /** Takes a batch and never ends it. */
  hangs: async () => {
    process.stdout.write('taken\n')
    await new Promise(() => {})
  },
  /** Slow enough to be frozen before it has its effect. */
  'is slow': async (batch) => {
    process.stdout.write('taken\n')
    await Bun.sleep(200)
    const outcome = await sql
      .begin(async (tx) => {
        for (const one of batch) await tx`insert into effects values (${textOf(one)}, 'victim')`
        await broker.settleIn(tx, batch)
      })
      .then(
        () => 'committed',
        (error: Error) => error.name,
      )
    process.stdout.write(`${outcome}\n`)
    if (outcome !== 'committed') throw new Error(outcome)
  },
  /** Has the effect of every message but one. */
  dies: async (batch) => {
    if (batch.some((one) => textOf(one) === 'deadly')) process.kill(process.pid, 'SIGKILL')
    await sql.begin(async (tx) => {
      for (const one of batch) await tx`insert into effects values (${textOf(one)}, 'victim')`
      await broker.settleIn(tx, batch)
    })
  },
}
const handler = handlers[mode]
if (handler === undefined) throw new Error(`no mode ${mode}`)
broker.consume({ topic, group: 'g', batchSizeMax: 10, handler })
