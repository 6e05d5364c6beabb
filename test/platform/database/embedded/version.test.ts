import { afterAll, expect, test } from 'bun:test'
import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startEmbeddedPostgres } from '#src/platform/database/embedded/index.ts'

const directory = await mkdtemp(join(tmpdir(), 'cluster-'))
afterAll(() => rm(directory, { recursive: true }))

const bin = join(directory, 'bin')

/** What an earlier release, or the system's PostgreSQL, has left there. */
const leave = async (version: string): Promise<void> => {
  await chmod(directory, 0o755)
  for (const database of ['1', '13779', '13780']) {
    await mkdir(join(directory, 'data', 'base', database), { recursive: true })
  }
  await writeFile(join(directory, 'data', 'PG_VERSION'), `${version}\n`)
  await writeFile(join(directory, 'password'), 'secret')
}

test('a cluster of another major version is refused with its directory and what to do', async () => {
  await leave('15')
  await mkdir(bin)
  const script = '#!/bin/sh\necho "postgres (PostgreSQL) 18.4"\n'
  await writeFile(join(bin, 'postgres'), script, { mode: 0o755 })
  const binaries = { bin, version: 'system' }
  const message = await startEmbeddedPostgres({ directory, binaries }).then(
    () => '',
    (error: unknown) => (error instanceof Error ? error.message : ''),
  )
  expect(message).toContain(`${directory} is of PostgreSQL 15, which PostgreSQL 18 cannot open`)
  expect(message).toContain('Delete it to begin anew')
  expect(message).toContain('DATABASE_DSN')
  // Nothing of it was touched.
  expect(await readFile(join(directory, 'data', 'PG_VERSION'), 'utf8')).toBe('15\n')
})
