import { expect, test } from 'bun:test'
import { chmodSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import postgres from 'postgres'
import { createPostgresBroker } from '#src/platform/broker/index.ts'
import { columnTypes, sessionSettings } from '#src/platform/database/index.ts'
import { createTestDatabase, quietLogger as logger } from '../../support/database.ts'
import { freePort } from '../../support/free-port.ts'
import { temporaryDirectory } from '../../support/temporary.ts'
import { until } from '../../support/until.ts'

const pgbouncer = Bun.which('pgbouncer')

/** A pooler that gives every transaction any of two connections. */
const startPooler = (bin: string, dsn: string) => {
  const { hostname, port, username, password, pathname } = new URL(dsn)
  const directory = temporaryDirectory()
  chmodSync(directory, 0o777)
  const listenPort = freePort()
  const file = join(directory, 'pgbouncer.ini')
  writeFileSync(
    file,
    `[databases]
${pathname.slice(1)} = host=${hostname} port=${port} user=${username} password=${password}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${listenPort}
unix_socket_dir =
auth_type = any
pool_mode = transaction
default_pool_size = 2
ignore_startup_parameters = statement_timeout
`,
    { mode: 0o644 },
  )
  const asNobody = process.getuid?.() === 0 ? ['-u', 'nobody'] : []
  const pooler = Bun.spawn([bin, '-q', ...asNobody, file], { stdout: 'ignore', stderr: 'ignore' })
  // Versions before 1.21 know no prepared statements in this mode.
  const url = `postgres://${username}@127.0.0.1:${listenPort}${pathname}?prepare=false`
  return { url, stop: () => pooler.kill() }
}

test.skipIf(pgbouncer === null)(
  'behind a pooler of transactions all is delivered and settled, though nobody is heard (needs pgbouncer)',
  async () => {
    const database = await createTestDatabase()
    const pooler = startPooler(pgbouncer ?? '', database.dsn)
    const openBroker = () => {
      const sql = postgres(pooler.url, {
        max: 3,
        types: columnTypes,
        connection: sessionSettings,
        onnotice: () => {},
      })
      const times = { leaseMs: 900 }
      const broker = createPostgresBroker({
        sql,
        dsn: pooler.url,
        logger,
        times,
      })
      return { broker, sql }
    }
    const [one, other] = [openBroker(), openBroker()]
    const members = [one, other]
    const answers = () =>
      one.sql`select 1`.then(
        () => true,
        () => false,
      )
    await until(answers)
    const seen: string[][] = [[], []]
    for (const [index, { broker, sql }] of members.entries()) {
      broker.consume({
        topic: 'pooled',
        group: 'g',
        batchSizeMax: 10,
        handler: async (batch) => {
          await sql.begin((tx) => broker.settleIn(tx, batch))
          seen[index]?.push(...batch.map(({ value }) => Buffer.from(value).toString()))
        },
      })
    }
    const all = Array.from({ length: 400 }, (_, index) => `${index}`.padStart(3, '0'))
    for (let at = 0; at < all.length; at += 20) {
      const messages = all.slice(at, at + 20).map((text) => ({
        topic: 'pooled',
        key: text,
        value: Buffer.from(text),
      }))
      await (at % 40 === 0 ? one : other).broker.publish(messages)
      await Bun.sleep(50)
    }
    await until(() => seen.flat().length >= all.length)
    expect(seen.flat().sort()).toEqual(all)
    expect(seen.every((texts) => texts.length > 0)).toBe(true)
    for (const { broker, sql } of members) {
      await broker.stop()
      await sql.end({ timeout: 1 })
    }
    pooler.stop()
    await database.close()
  },
  60_000,
)
