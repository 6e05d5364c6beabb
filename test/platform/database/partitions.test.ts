import { afterAll, describe, expect, test } from 'bun:test'
import {
  ensurePartitions,
  partitionEnd,
  partitionNames,
  partitionRange,
  uuidBound,
} from '#src/platform/database/index.ts'
import { createTestDatabase } from '../../support/database.ts'
import { until } from '../../support/until.ts'

const database = await createTestDatabase()
afterAll(() => database.close())
const { sql } = database

await sql`create table things (at timestamptz not null) partition by range (at)`
await sql`create table things_default partition of things default`

const timestampBound = (from: Date): string => from.toISOString()
const log = { name: 'things', unit: 'day', bound: timestampBound } as const

describe('time partitions', () => {
  test('ranges follow the calendar in UTC', () => {
    const at = new Date('2026-12-31T23:59:59.999Z')
    const month = { name: 't', unit: 'month', bound: timestampBound } as const
    expect(partitionRange(month, at, 1)).toEqual({
      name: 't_p202701',
      from: new Date('2027-01-01T00:00:00Z'),
      to: new Date('2027-02-01T00:00:00Z'),
    })
    expect(partitionRange(log, at, 1).name).toBe('things_p20270101')
    expect(partitionRange(log, at, -366).name).toBe('things_p20251230')
  })

  test('the UUID bound of a moment is not above any UUIDv7 of that moment', () => {
    const at = new Date()
    const id = Bun.randomUUIDv7('hex', at)
    expect(uuidBound(at) <= id).toBe(true)
    expect(uuidBound(new Date(at.getTime() + 1)) > id).toBe(true)
  })

  test('are made once, also by two at a time, and take the rows of their time', async () => {
    const at = new Date('2031-05-10T12:00:00Z')
    const made = (await Promise.all([1, 2].map(() => ensurePartitions(sql, log, 2, at)))).flat()
    expect(made.sort()).toEqual([
      'things_p20310509',
      'things_p20310510',
      'things_p20310511',
      'things_p20310512',
    ])
    expect(await ensurePartitions(sql, log, 2, at)).toEqual([])
    await sql`
      insert into things (at)
      values (${at.toISOString()})`
    const [row] = await sql`select tableoid::regclass::text as name from things`
    expect(row?.['name']).toBe('things_p20310510')
    expect(await partitionNames(sql, log)).toEqual(made)
  })

  test('leave a range whose rows are in the default partition already', async () => {
    const at = new Date('2041-05-10T12:00:00Z')
    await sql`
      insert into things (at)
      values (${at.toISOString()})`
    const made = await ensurePartitions(sql, log, 1, at)
    expect(made).toEqual(['things_p20410509', 'things_p20410511'])
  })

  test('after a change of unit, days begin behind the months, and a month that has days gets the others', async () => {
    const months = { ...log, unit: 'month' } as const
    const april = new Date('2051-04-20T12:00:00Z')
    expect(await ensurePartitions(sql, months, 0, april)).toEqual([
      'things_p205103',
      'things_p205104',
    ])
    const lastOfApril = new Date('2051-04-30T12:00:00Z')
    expect(await ensurePartitions(sql, log, 2, lastOfApril)).toEqual([
      'things_p20510501',
      'things_p20510502',
    ])
    const made = await ensurePartitions(sql, months, 1, lastOfApril)
    expect(made[0]).toBe('things_p20510503')
    expect(made).toHaveLength(29)
    expect(made.at(-1)).toBe('things_p20510531')
    expect(await ensurePartitions(sql, months, 1, lastOfApril)).toEqual([])
    expect(await ensurePartitions(sql, months, 2, lastOfApril)).toEqual(['things_p205106'])
  })

  test('their names tell when they end', () => {
    expect(partitionEnd('things_p205112')).toEqual(new Date('2052-01-01T00:00:00Z'))
    expect(partitionEnd('things_p20511231')).toEqual(new Date('2052-01-01T00:00:00Z'))
    expect(partitionEnd('things_p20520228')).toEqual(new Date('2052-02-29T00:00:00Z'))
  })

  test('a table in use holds up the partition, and that nobody else for long', async () => {
    const at = new Date('2033-05-10T12:00:00Z')
    const letGo = Promise.withResolvers<void>()
    const held = Promise.withResolvers<void>()
    // As a backup does.
    const backup = sql.begin(async (tx) => {
      await tx`lock table things in access share mode`
      held.resolve()
      await letGo.promise
    })
    await held.promise
    const refused = ensurePartitions(sql, log, 0, at).catch((error: unknown) => error)
    await until(
      async () =>
        (await sql`select from pg_locks where relation = 'things'::regclass and not granted`)
          .count > 0,
    )
    // Behind the statement that waits, and written although the backup goes on.
    await sql`
      insert into things (at)
      values (${at.toISOString()})`
    expect(await refused).toMatchObject({ code: '55P03' })
    letGo.resolve()
    await backup
  })
})
