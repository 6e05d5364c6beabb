import { afterAll, expect, test } from 'bun:test'
import { createStatistics } from '#src/platform/database/index.ts'
import { createMessages } from '#src/spi/index.ts'
import { storeMany } from '../../spi/messages/stored.ts'
import { createTestDatabase, messagesForEver, quietLogger } from '../../support/database.ts'
import { until } from '../../support/until.ts'

const database = await createTestDatabase()
afterAll(() => database.close())
const { sql } = database

const analyzed = async (): Promise<readonly string[]> =>
  (
    await sql<{ name: string }[]>`
      select distinct tablename as name from pg_stats where inherited order by 1`
  ).map(({ name }) => name)

test('partitioned tables are analyzed as wholes, once they hold something', async () => {
  const messages = createMessages({ sql, ...messagesForEver, logger: quietLogger })
  await messages.start?.()
  await messages.drain?.()
  const round = async (): Promise<void> => {
    await sql`delete from job_leases`
    const job = createStatistics({ sql, logger: quietLogger })
    await job.start()
    await until(
      async () =>
        (await sql`select from job_leases where until > now() + interval '1 hour'`).count > 0,
    )
    await job.stop()
  }
  await round()
  expect(await analyzed()).toEqual([])
  await storeMany(sql, 3_000, 40)
  await round()
  expect(await analyzed()).toContain('spi_messages')
  expect(await analyzed()).not.toContain('audit_log')
})
