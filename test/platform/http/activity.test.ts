/** What a rail did of late is a bounded look, told in steps. */
import { afterAll, expect, test } from 'bun:test'
import { activityQuery, activityRowsMax, readActivity } from '#src/platform/http/index.ts'
import { createTestDatabase } from '../../support/database.ts'

const database = await createTestDatabase()
afterAll(() => database.close())

/** So many rows, one a millisecond back from now, the first hundred of which have no outcome. */
const rowsOf = (many: number) => () =>
  database.sql`
  select now() - n * interval '1 millisecond' as at,
    case when n <= 100 then 'SENT' when n % 2 = 0 then 'ACCEPTED' else 'REJECTED' end as status,
    case when n > 100 and n % 2 = 1 then 'AB03' end as reason,
    case when n > 100 then (n - 100)::float8 end as ms
  from generate_series(1, ${many}::int) n`

test('counts, outcomes with their reasons, and times of those that have an outcome', async () => {
  const found = await readActivity(database.sql, 60, rowsOf(300))
  expect(found.outcomes).toEqual([
    { status: 'ACCEPTED', reason: null, count: 100 },
    { status: 'REJECTED', reason: 'AB03', count: 100 },
    { status: 'SENT', reason: null, count: 100 },
  ])
  expect([found.p50_ms, found.p99_ms, found.step_seconds]).toEqual([100, 198, 60])
  expect(found.steps.reduce((sum, { count }) => sum + count, 0)).toBe(300)
  expect(Date.parse(found.to) - Date.parse(found.from)).toBe(3_600_000)
})

test('where nothing began there are neither steps nor times', async () => {
  const { steps, outcomes, p50_ms, complete } = await readActivity(database.sql, 1, rowsOf(0))
  expect([steps, outcomes, p50_ms, complete]).toEqual([[], [], null, true])
})

test('of more than are looked at it says so, and from when on it tells', async () => {
  const whole = await readActivity(database.sql, 60, rowsOf(activityRowsMax))
  const part = await readActivity(database.sql, 60, rowsOf(activityRowsMax + 1))
  expect([whole.complete, part.complete]).toEqual([true, false])
  expect(Date.parse(part.to) - Date.parse(part.from)).toBeLessThan(3_600_000)
})

test.each([
  ['1', true],
  ['1440', true],
  ['0', false],
  ['1441', false],
  ['x', false],
])('a window of %s minutes is taken: %p', (minutes, isTaken) => {
  expect(activityQuery.safeParse({ minutes }).success).toBe(isTaken)
})
