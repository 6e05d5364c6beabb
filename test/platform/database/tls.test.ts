/** A server whose certificate comes from an authority of one's own, as those of most clouds do. */
import { afterAll, expect, test } from 'bun:test'
import { chmodSync, chownSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import postgres from 'postgres'
import {
  demandDatabase,
  openDatabase,
  startEmbeddedPostgres,
} from '#src/platform/database/index.ts'
import { quietLogger } from '../../support/database.ts'
import { issueCertificate } from '../../support/pki.ts'
import { temporaryDirectory } from '../../support/temporary.ts'
import { until } from '../../support/until.ts'

const directory = temporaryDirectory()
chmodSync(directory, 0o755)
const server = await startEmbeddedPostgres({ directory, settings: {} })
const admin = postgres(server.url, { max: 1 })
afterAll(async () => {
  await admin.end()
  await server.stop()
}, 60_000)

/** Readable by the server alone, as it demands of a key. */
const written = (name: string, text: string): string => {
  const path = join(server.directory, name)
  const { uid, gid } = statSync(join(server.directory, 'data'))
  writeFileSync(path, text, { mode: 0o600 })
  chownSync(path, uid, gid)
  return path
}

const authority = issueCertificate('authority', { authority: true })
const stranger = issueCertificate('stranger', { authority: true })
const { cert, key } = issueCertificate('server', { issuer: authority, hosts: ['127.0.0.1'] })
const ca = written('ca.pem', authority.cert)
const other = written('other.pem', stranger.cert)
await admin.unsafe(`alter system set ssl_cert_file = '${written('server.pem', cert)}'`)
await admin.unsafe(`alter system set ssl_key_file = '${written('server.key', key)}'`)
await admin.unsafe('alter system set ssl = on')
await admin`select pg_reload_conf()`
await until(async () => {
  const [row] = await admin`select current_setting('ssl') as ssl`
  return row?.['ssl'] === 'on'
})

const single = server.url
const twice = server.url.replace(/@([^/]+)/, '@$1,$1')
const verified = (url: string, path: string): string =>
  `${url}?sslmode=verify-full&sslrootcert=${path}`

test.each([single, twice])(
  'a server is known by the authority that the address names',
  async (url) => {
    const dsn = verified(url, ca)
    const options = { connectionsMax: 1, statementTimeoutMs: 5_000, logger: quietLogger }
    const database = openDatabase({ ...options, dsn })
    const [row] = await database.sql`select ssl from pg_stat_ssl where pid = pg_backend_pid()`
    await database.close()
    expect(row?.['ssl']).toBe(true)
    await demandDatabase('DATABASE_DSN', dsn)
  },
)

test.each([verified(single, other), verified(twice, other), `${single}?sslmode=verify-full`])(
  'one that comes from no such authority is refused',
  async (dsn) => {
    const refusal = demandDatabase('DATABASE_DSN', dsn)
    await expect(refusal).rejects.toThrow(/DATABASE_DSN: .*(certificate|issuer)/)
  },
)

test.each([single, twice])('its files are read at the start, and not needed later', async (url) => {
  const path = written('start.pem', authority.cert)
  const dsn = `${verified(url, path)}&application_name=start`
  await demandDatabase('DATABASE_DSN', dsn)
  rmSync(path)
  await Bun.sleep(1_100)
  await demandDatabase('DATABASE_DSN', dsn)
})
