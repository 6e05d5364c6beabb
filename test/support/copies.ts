import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { startEmbeddedPostgres } from '#src/platform/database/index.ts'
import { temporaryDirectory } from './temporary.ts'

/* Copies of a whole database with the tools of PostgreSQL, of one version, as an operator makes them. */

/** pg_dump takes servers of its own version and older ones. */
const debian = '/usr/lib/postgresql'
const bin = existsSync(debian)
  ? readdirSync(debian)
      .map((version) => join(debian, version, 'bin'))
      .find((path) => ['postgres', 'pg_dump', 'psql'].every((name) => existsSync(join(path, name))))
  : undefined

/** Why nothing can be copied here; empty if it can. */
export const noCopies =
  bin === undefined ? ' [skipped: no postgres, pg_dump and psql of one version]' : ''

/** A server of its own; stop it. */
export const startCluster = () =>
  startEmbeddedPostgres({
    directory: temporaryDirectory(),
    settings: { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off' },
    binaries: { bin: bin ?? '', version: 'system' },
  })

const run = (name: string, args: readonly string[], input?: Uint8Array): Uint8Array => {
  const stdin = input === undefined ? 'ignore' : input
  const { exitCode, stdout, stderr } = Bun.spawnSync([join(bin ?? '', name), ...args], { stdin })
  if (exitCode !== 0 || stderr.length > 0) throw new Error(`${name}: ${exitCode} ${stderr}`)
  return stdout
}

/** Everything in a database, as SQL. */
export const copyOf = (dsn: string): Uint8Array => run('pg_dump', ['--no-owner', dsn])

export const restoreInto = (dsn: string, copy: Uint8Array): void => {
  run('psql', ['-q', '-v', 'ON_ERROR_STOP=1', '-f', '-', dsn], copy)
}
