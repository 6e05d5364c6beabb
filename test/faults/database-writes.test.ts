import { afterAll, expect, test } from 'bun:test'
import { chmodSync } from 'node:fs'
import { join } from 'node:path'
import { startEmbeddedPostgres } from '#src/platform/database/index.ts'
import { apiKeyFile } from '../support/api-key.ts'
import { createTestDatabase, type TestDatabase } from '../support/database.ts'
import { anyVariant, startProgram } from '../support/program.ts'
import { temporaryDirectory } from '../support/temporary.ts'
import { until } from '../support/until.ts'

/** What a probe may take to be noticed: its period and the time that answers are kept. */
const noticeMs = 15_000

type Answer = { readonly status: number; readonly body: Record<string, unknown> }

const startOn = async (dsn: string) => {
  const { file, key } = await apiKeyFile('ops:read')
  const program = startProgram(anyVariant, ['serve'], {
    env: { HTTP_ADDR: '127.0.0.1:0', CARDGW_PORT: '0', DATABASE_DSN: dsn, API_KEYS_FILE: file },
  })
  const line = await program.line((text) => text.includes('"msg":"listening"'))
  const { http_url: url } = JSON.parse(line) as { readonly http_url: string }
  const ask = async (path: string): Promise<Answer> => {
    const response = await fetch(`${url}${path}`, { headers: { authorization: `Bearer ${key}` } })
    return { status: response.status, body: (await response.json()) as Answer['body'] }
  }
  const untilReady = (isReady: boolean): Promise<void> =>
    until(async () => (await ask('/ready')).status === (isReady ? 200 : 503), noticeMs)
  await untilReady(true)
  return {
    ask,
    untilReady,
    stop: async () => {
      program.signal('SIGTERM')
      return (await program.end()).out
    },
  }
}

const setReadOnly = async ({ sql, dsn }: TestDatabase, value: 'on' | 'off'): Promise<void> => {
  const name = new URL(dsn).pathname.slice(1)
  await sql.unsafe(`alter database ${name} set default_transaction_read_only = ${value}`)
  // Sessions keep what they began with.
  await sql`
    select pg_terminate_backend(pid) from pg_stat_activity
    where datname = current_database() and pid <> pg_backend_pid()`
}

test('a database that answers and takes no writes is neither ready nor ok, and is again afterwards', async () => {
  const database = await createTestDatabase(1)
  const gateway = await startOn(database.dsn)
  await setReadOnly(database, 'on')
  await gateway.untilReady(false)
  expect((await gateway.ask('/ready')).body).toEqual({
    status: 'not_ready',
    reason: 'database takes no writes: read-only',
  })
  expect((await gateway.ask('/health')).body).toMatchObject({
    status: 'degraded',
    database: 'down',
    checks: { database: { status: 'down', detail: { reason: 'read-only' } } },
  })
  await setReadOnly(database, 'off')
  await gateway.untilReady(true)
  const log = await gateway.stop()
  expect(log).toContain('the database takes no writes: not ready')
  expect(log).toContain('the database takes writes again')
  await database.sql`select 1`
  await database.close()
}, 60_000)

const mounted = (path: string): boolean =>
  process.getuid?.() === 0 &&
  Bun.spawnSync(['mount', '-t', 'tmpfs', '-o', 'size=96m', 'tmpfs', path]).exitCode === 0

const disk = temporaryDirectory()
const isSmall = mounted(disk)
afterAll(() => {
  if (isSmall) Bun.spawnSync(['umount', '-l', disk])
})

test.skipIf(!isSmall)(
  'a disk that is full (needs the right to mount)',
  async () => {
    chmodSync(disk, 0o755)
    const server = await startEmbeddedPostgres({
      directory: disk,
      settings: {
        max_wal_size: '32MB',
        min_wal_size: '32MB',
        wal_level: 'minimal',
        max_wal_senders: '0',
      },
    })
    const gateway = await startOn(server.url)
    await Bun.$`dd if=/dev/zero of=${join(disk, 'filler')} bs=8k`.quiet().nothrow()
    await gateway.untilReady(false)
    expect((await gateway.ask('/ready')).body).toMatchObject({
      reason: 'database takes no writes: no space left',
    })
    await Bun.file(join(disk, 'filler')).delete()
    await gateway.untilReady(true)
    await gateway.stop()
    await server.stop()
  },
  60_000,
)
