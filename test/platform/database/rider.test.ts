import { afterAll, expect, test } from 'bun:test'
import {
  goAlone,
  isNotWhole,
  type Rider,
  ridersWith,
  toldBy,
  wholeOf,
  withoutTold,
} from '#src/platform/database/index.ts'
import { createTestDatabase } from '../../support/database.ts'

const database = await createTestDatabase()
const { sql } = database
await sql`create table carried (n int)`
await sql`create table riding (n int)`
afterAll(() => database.close())

const told: string[] = []
const rider: Rider = {
  name: 'ridden',
  ctes: (tx) => tx`ridden as (insert into riding values (1), (2) returning n::text as told)`,
  done: (rows) => told.push(...rows),
}

const carry = async (riders: readonly Rider[]): Promise<readonly { readonly n: number }[]> => {
  const rows = await sql<{ n: number; rider: string | null }[]>`
    with carried_now as (insert into carried values (7) returning n)${ridersWith(sql, riders)}
    select n, null as rider, null as told from carried_now ${toldBy(sql, riders, sql`null`)}`
  return withoutTold(rows, riders)
}

const counts = async () =>
  (
    await sql`select (select count(*) from carried) as carried, (select count(*) from riding) as riding`
  )[0]

/** Ends the statement unless the rider changed so many rows. */
const guard = (count: number): Rider => ({
  name: 'guard',
  ctes: (tx) => tx`guard as (select ${wholeOf(tx, 'ridden', count)} as told)`,
  done: () => {},
})

test('a statement tells its own rows, and each rider what is its', async () => {
  expect((await carry([rider])).map(({ n }) => n)).toEqual([7])
  expect(told.splice(0)).toEqual(['1', '2'])
  expect(await carry([])).toHaveLength(1)
  await goAlone(sql, rider)
  expect(told.splice(0)).toEqual(['1', '2'])
  expect(await counts()).toEqual({ carried: 2n, riding: 4n })
})

test('fewer rows than expected, and nothing is changed', async () => {
  const before = await counts()
  const failed = await carry([rider, guard(3)]).then(
    () => undefined,
    (error: unknown) => error,
  )
  expect(isNotWhole(failed)).toBe(true)
  expect(isNotWhole(new Error('another'))).toBe(false)
  expect([await counts(), told]).toEqual([before, []])
  expect(await carry([rider, guard(2)])).toHaveLength(1)
})
