/**
 * An engine that is compatible with PostgreSQL and is another: PGlite, WebAssembly of 32 bits, whose clients all share
 * one session. Locks of sessions exclude nobody there, and notifications are heard by nobody.
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { createPostgresBroker } from '#src/platform/broker/index.ts'
import { migrate, openDatabase } from '#src/platform/database/index.ts'
import { migrations } from '../../drizzle/index.ts'
import { tryAll } from '../clients/try-out.ts'
import { brokerContract } from '../contract/broker.contract.ts'
import { quietLogger as logger } from '../support/database.ts'
import { lettersIn } from '../support/letters.ts'
import { startOneSession } from '../support/one-session.ts'
import { isLong } from '../support/page-budgets.ts'
import { startDev } from '../support/running-dev.ts'
import { startReceiver } from '../webhooks/support.ts'

describe.skipIf(!isLong)('an engine with one session for all', () => {
  const databases: { close(): Promise<void> }[] = []
  let engine: Awaited<ReturnType<typeof startOneSession>>
  beforeAll(async () => {
    engine = await startOneSession()
    await migrate(engine.dsn, migrations, logger)
  })
  afterAll(async () => {
    await Promise.all(databases.map((database) => database.close()))
    await engine[Symbol.asyncDispose]()
  })
  const openClient = () => {
    const { dsn } = engine
    const database = openDatabase({ dsn, connectionsMax: 3, statementTimeoutMs: 30_000, logger })
    databases.push(database)
    return database.sql
  }

  brokerContract('PGlite', {
    open: async () => {
      const broker = createPostgresBroker({
        sql: openClient(),
        dsn: engine.dsn,
        logger,
        times: { leaseMs: 900 },
      })
      await broker.start()
      return broker
    },
    letters: () => () => lettersIn(openClient()),
  })

  test('every operation of the API is done on it', async () => {
    await using whole = await startOneSession()
    const receiver = startReceiver()
    const env = { DATABASE_DSN: whole.dsn, CARDGW_DATABASE_URL: whole.dsn }
    const dev = await startDev({
      ...env,
      WEBHOOK_ALLOWED_TARGETS: '127.0.0.1',
      CARDGW_REVERSAL_ATTEMPTS_MAX: '1',
    })
    const faults = await tryAll(dev, receiver.url)
    // With a database of our own, dev makes no keys of RSFN.
    expect(faults.filter((fault) => !/^\w+Rsfn/.test(fault))).toEqual([])
    await dev[Symbol.asyncDispose]()
    await receiver.stop()
  }, 300_000)
})
