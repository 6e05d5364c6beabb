import { afterAll } from 'bun:test'
import { createPostgresBroker, type TransactionalBroker } from '#src/platform/broker/index.ts'
import { quietLogger, type TestDatabase } from './database.ts'

/** A broker that runs until the tests of the file are over, and then ends with its database. */
export const runningBroker = async ({
  sql,
  dsn,
  close,
}: TestDatabase): Promise<TransactionalBroker> => {
  const broker = createPostgresBroker({ sql, dsn, logger: quietLogger })
  await broker.start()
  afterAll(async () => {
    await broker.stop()
    await close()
  })
  return broker
}
