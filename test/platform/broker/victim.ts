/** A consumer in a process of its own that takes a batch and never ends it; to be killed. */
import { createPostgresBroker } from '#src/platform/broker/index.ts'
import { openDatabase } from '#src/platform/database/index.ts'
import { quietLogger as logger } from '../../support/database.ts'

const [dsn = '', topic = ''] = process.argv.slice(2)
const { sql } = openDatabase({ dsn, connectionsMax: 2, statementTimeoutMs: 30_000, logger })
const broker = createPostgresBroker({ sql, dsn, retentionDays: 7, logger })
broker.consume({
  topic,
  group: 'g',
  batchSizeMax: 10,
  handler: async (batch) => {
    if (!batch.some(({ value }) => value.length > 1)) return
    process.stdout.write('taken\n')
    await new Promise(() => {})
  },
})
