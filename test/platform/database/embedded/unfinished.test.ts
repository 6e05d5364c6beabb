import { expect, test } from 'bun:test'
import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import postgres from 'postgres'
import { startEmbeddedPostgres } from '#src/platform/database/index.ts'
import { temporaryDirectory } from '../../../support/temporary.ts'

/* The process was killed while the cluster was made, for which initdb takes a second or more. */

const directory = join(temporaryDirectory(), 'postgres')

/** What initdb has made by then: it writes PG_VERSION among the first, and the databases one after the other. */
const leaveUnfinished = (data: string): void => {
  mkdirSync(join(data, 'base/1'), { recursive: true, mode: 0o700 })
  mkdirSync(join(data, 'global'))
  writeFileSync(join(data, 'PG_VERSION'), '18\n')
  writeFileSync(join(data, 'base/1/PG_VERSION'), '18\n')
  writeFileSync(join(data, 'global/pg_control'), new Uint8Array(8_192))
}

const start = async <T>(use: (sql: postgres.Sql) => Promise<T>): Promise<T> => {
  const server = await startEmbeddedPostgres({ directory })
  const sql = postgres(server.url, { max: 1 })
  try {
    return await use(sql)
  } finally {
    await sql.end()
    await server.stop()
  }
}

test('a cluster that was not made to its end is made anew, and one that was stays', async () => {
  mkdirSync(directory, { recursive: true })
  writeFileSync(join(directory, 'password'), 'secret', { mode: 0o600 })
  leaveUnfinished(join(directory, 'data'))
  leaveUnfinished(join(directory, 'data.new-AbCdEf'))
  await start((sql) => sql`create table kept (id int)`)
  expect(await start((sql) => sql`select * from kept`)).toHaveLength(0)
  expect(readdirSync(directory).sort()).toEqual(['data', 'password', 'postgres.log'])
  expect(existsSync(join(directory, 'data/PG_VERSION'))).toBe(true)
})

test.each([
  ['databases', 'data/base'],
  ['password', 'password'],
])('where its %s cannot be read, a cluster stays as it is', async (_, unreadable) => {
  const at = join(temporaryDirectory(), 'postgres')
  mkdirSync(join(at, 'data'), { recursive: true })
  writeFileSync(join(at, 'data/PG_VERSION'), '18\n')
  writeFileSync(join(at, 'password'), 'secret', { mode: 0o600 })
  rmSync(join(at, unreadable), { force: true })
  // Neither a folder that is a file nor a file that is a folder can be read.
  if (unreadable === 'password') mkdirSync(join(at, unreadable))
  else writeFileSync(join(at, unreadable), '')
  const started = startEmbeddedPostgres({ directory: at })
  expect(started).rejects.toThrow(/ENOTDIR|EISDIR/)
  await started.catch(() => {})
  expect(existsSync(join(at, 'data/PG_VERSION'))).toBe(true)
})

test('what is there before initdb has ended is never taken for a cluster', async () => {
  const at = temporaryDirectory()
  const bin = join(at, 'bin')
  mkdirSync(bin)
  // Makes what it makes first, and dies.
  const script =
    '#!/bin/sh\nwhile [ "$1" != -D ]; do shift; done\necho 18 > "$2/PG_VERSION"\nexit 137\n'
  writeFileSync(join(bin, 'initdb'), script, { mode: 0o755 })
  const binaries = { bin, version: 'system' } as const
  const failed = startEmbeddedPostgres({ directory: join(at, 'postgres'), binaries })
  expect(failed).rejects.toThrow('initdb ended with code 137')
  await failed.catch(() => {})
  expect(existsSync(join(at, 'postgres/data/PG_VERSION'))).toBe(false)
})
