/** Whoever ends a process that has not begun to listen does not wait for what it waits for. */
import { expect, setDefaultTimeout, test } from 'bun:test'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { createTestDatabase } from '../support/database.ts'
import { anyVariant, root, startProgram, type Variant } from '../support/program.ts'
import { temporaryDirectory } from '../support/temporary.ts'
import { until } from '../support/until.ts'

setDefaultTimeout(240_000)

/** As another has it that migrates. */
const lockKey = 0x7472696c
/** Another is waited for this long. */
const lockTimeoutMs = 120_000

test('SIGTERM ends a process that waits for another to migrate', async () => {
  await using stack = new AsyncDisposableStack()
  const database = await createTestDatabase(2)
  stack.defer(() => database.close())
  const migrating = await database.sql.reserve()
  stack.defer(() => migrating.release())
  await migrating`select pg_advisory_lock(${lockKey})`
  await migrating`
    delete from schema_migrations where name = (select max(name) from schema_migrations)`
  const program = startProgram(anyVariant, ['serve'], {
    env: { HTTP_ADDR: '127.0.0.1:0', CARDGW_PORT: '0', DATABASE_DSN: database.dsn },
  })
  stack.defer(() => program.signal('SIGKILL'))
  const ended = program.end()
  const isWaiting = async () =>
    (
      await database.sql`
        select from pg_stat_activity
        where datname = current_database() and query like 'select pg_try_advisory_lock%'`
    ).count > 0
  await until(isWaiting)
  const atMs = performance.now()
  program.signal('SIGTERM')
  expect((await ended).code).toBe(0)
  expect(performance.now() - atMs).toBeLessThan(lockTimeoutMs / 4)
})

/** The program with other features, run by the sources. */
const programWith = (args: readonly string[], features: string): Variant => {
  const script = `
    const { program } = await import('./src/main.ts')
    const { createProcessIo, runCli } = await import('./src/cli/index.ts')
    const load = (env) => ({ ...program.load(env), createFeatures: () => ${features} })
    const { io } = createProcessIo(process.env)
    process.exit(await runCli(${JSON.stringify(args)}, io, { ...program, load }))`
  return { name: 'sources', command: () => [process.execPath, '-e', script] }
}

test('SIGTERM does not hide why a process could not start', async () => {
  const failing = programWith(
    ['serve'],
    `[
      { name: 'slow', stop: () => { console.log('stopping'); return Bun.sleep(1000) } },
      { name: 'broken', start: () => Promise.reject(new Error('no port')) },
    ]`,
  )
  const env = { HTTP_ADDR: '127.0.0.1:0', CARDGW_PORT: '0' }
  const program = startProgram(failing, [], { cwd: root, env })
  await program.line((line) => line === 'stopping')
  program.signal('SIGTERM')
  const { code, out } = await program.end()
  expect(out.match(/"msg":"start failed"/g)).toHaveLength(1)
  expect(out).toContain('no port')
  expect(code).toBe(1)
})

test.each(['start', 'demo'])('SIGTERM ends dev, and its database, within a %s', async (step) => {
  const state = join(temporaryDirectory(), '.trilho')
  const waiting = programWith(
    ['dev', '--json', '--state', state],
    `[{ name: 'slow', ${step}: () => { console.log('waiting'); return new Promise(() => {}) } }]`,
  )
  const program = startProgram(waiting, [], { cwd: root })
  await program.line((line) => line === 'waiting')
  const lock = join(state, 'postgres/data/postmaster.pid')
  expect(existsSync(lock)).toBe(true)
  program.signal('SIGTERM')
  expect(await program.end()).toEqual({ code: 0, out: 'waiting\n', err: '' })
  expect(existsSync(lock)).toBe(false)
})
