import { afterAll, expect, test } from 'bun:test'
import {
  createGatherer,
  isRowFault,
  isTransientDatabaseError,
  openDatabase,
  storedOr,
} from '#src/platform/database/index.ts'
import { createTestDatabase, quietLogger } from '../../support/database.ts'

const database = await createTestDatabase()
const { sql } = database
afterAll(() => database.close())

const errorOf = async (run: PromiseLike<unknown>): Promise<unknown> => {
  try {
    await run
  } catch (error) {
    return error
  }
  throw new Error('it went well')
}

test('what fails though the database is there is told, and not left out of a check', async () => {
  const away = openDatabase({
    dsn: 'postgres://nobody@127.0.0.1:1/none',
    connectionsMax: 1,
    statementTimeoutMs: 1000,
    logger: quietLogger,
  })
  expect(await storedOr<unknown>('nothing', async () => away.sql`select 1`)).toBe('nothing')
  expect(await storedOr<unknown>('nothing', async () => sql`select from no_such_table`)).toBe(
    'nothing',
  )
  for (const code of ['57014', '53200', '40P01', '55P03']) {
    const ask = async () => sql.unsafe(`do $$ begin raise 'x' using errcode = '${code}'; end $$`)
    expect([code, await errorOf(storedOr<unknown>('nothing', ask))]).toMatchObject([code, { code }])
  }
  await away.close()
})

test('a server that is away, stops or ends a transaction is transient', async () => {
  const away = openDatabase({
    dsn: 'postgres://nobody@127.0.0.1:1/none',
    connectionsMax: 1,
    statementTimeoutMs: 1000,
    logger: quietLogger,
  })
  expect(isTransientDatabaseError(await errorOf(away.sql`select 1`))).toBe(true)
  await away.close()
  expect(isTransientDatabaseError(await errorOf(away.sql`select 1`))).toBe(true)
  const cut = errorOf(sql`select pg_sleep(30)`)
  const killed = async (): Promise<void> => {
    const rows = await sql`
      select pg_terminate_backend(pid) from pg_stat_activity
      where query like 'select pg_sleep(30)%' and pid <> pg_backend_pid()`
    if (rows.length === 0) await killed()
  }
  await killed()
  expect(isTransientDatabaseError(await cut)).toBe(true)
})

test('a schema that is not the one of this program is not the fault of the data', async () => {
  for (const text of ['select x from pg_class', 'select from no_table', 'select no_function()']) {
    const error = await errorOf(sql.unsafe(text))
    expect([isTransientDatabaseError(error), isRowFault(error)]).toEqual([true, true])
  }
})

test('a row that needs a right which is missing holds up none that is written with it', async () => {
  const isStored = (rows: readonly string[], code: string): Promise<readonly boolean[]> =>
    rows.includes('bad')
      ? Promise.reject(Object.assign(new Error(code), { code }))
      : Promise.resolve(rows.map(() => true))
  const storedBeside = async (code: string): Promise<number> => {
    const store = createGatherer<string, boolean>({
      rowsMax: 100,
      writersMax: 1,
      waitingMax: 100,
      isRowFault,
      write: (rows) => isStored(rows, code),
    })
    const all = await Promise.allSettled(['a', 'b', 'bad', 'c', 'd'].map(store))
    return all.filter(({ status }) => status === 'fulfilled').length
  }
  for (const code of ['42501', '42P01', '42703', '42883', '23505']) {
    expect(await storedBeside(code)).toBe(4)
  }
  for (const code of ['57P01', '40001', '25006', '55P03', 'DATABASE_NOT_READY', 'ECONNREFUSED']) {
    expect(await storedBeside(code)).toBe(0)
  }
})

test('data at fault, and errors that are not of the database, are not', async () => {
  expect(isTransientDatabaseError(await errorOf(sql`select 1/0`))).toBe(false)
  expect(isTransientDatabaseError(await errorOf(sql`select 'x'::uuid`))).toBe(false)
  expect(isTransientDatabaseError(new Error('no code'))).toBe(false)
  expect(isTransientDatabaseError(Object.assign(new Error('x'), { code: 8 }))).toBe(false)
  expect(isTransientDatabaseError('08006')).toBe(false)
})
