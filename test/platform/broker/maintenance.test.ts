import { afterAll, expect, test } from 'bun:test'
import { maintainLog } from '#src/platform/broker/postgresql/maintenance.ts'
import { ensurePartitions, partitionNames, timestampBound } from '#src/platform/database/index.ts'
import { createTestDatabase, quietLogger } from '../../support/database.ts'

const database = await createTestDatabase()
afterAll(() => database.close())
const { sql } = database
const log = { name: 'broker_log', unit: 'day', bound: timestampBound } as const

test('days past their retention go, except one in which a group has messages to settle', async () => {
  const old = new Date('2031-05-10T12:00:00Z')
  const now = new Date('2031-05-18T12:00:00Z')
  await ensurePartitions(sql, log, 0, old)
  await sql`
    insert into broker_log (topic, partition, xid, value, published_at)
    values ('t', 3, pg_current_xact_id(), '', ${old.toISOString()})`
  await sql`insert into broker_positions (topic, group_name, partition) values ('t', 'g', 3)`
  const options = { sql, retentionDays: 7, logger: quietLogger }

  await maintainLog(options, now)
  expect(await partitionNames(sql, log)).toContain('broker_log_p20310510')

  await sql`update broker_positions set xid = '9999999999'`
  await maintainLog(options, now)
  const names = await partitionNames(sql, log)
  expect(names[0]).toBe('broker_log_p20310517')
  expect(names).toContain('broker_log_p20310521')
})
