import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import { randomBytes } from 'node:crypto'
import { chmodSync, existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import postgres from 'postgres'
import { checkFiles, checkRequests } from '../../src/cli/doctor/checks.ts'
import { commandHere } from '../support/command-here.ts'
import { createTestDatabase } from '../support/database.ts'
import { freePort } from '../support/free-port.ts'
import { anyVariant, runProgram } from '../support/program.ts'
import { temporaryDirectory } from '../support/temporary.ts'
import { until } from '../support/until.ts'

setDefaultTimeout(60_000)

type Found = {
  readonly name: string
  readonly status: string
  readonly detail: string
  readonly fix?: string
}

const doctor = async (env: Readonly<Record<string, string>>) => {
  const { code, out } = await runProgram(anyVariant, ['doctor', '--json'], {
    env: { HTTP_ADDR: '127.0.0.1:0', CARDGW_PORT: '0', ...env },
  })
  const { checks } = JSON.parse(out) as { readonly checks: readonly Found[] }
  return { code, of: (name: string) => checks.find((check) => check.name === name) }
}

/** Nothing listens there. */
const nowhere = '127.0.0.1:1'

describe('doctor', () => {
  test('finds all well with a database that is', async () => {
    const { dsn, close } = await createTestDatabase()
    const none = await doctor({ DATABASE_DSN: dsn })
    expect(none.of('API keys')).toMatchObject({ status: 'warning' })
    const create = ['keys', 'create', '--name', 'a', '--scopes', 'spi:send']
    await runProgram(anyVariant, create, { env: { DATABASE_DSN: dsn } })
    const { code, of } = await doctor({ DATABASE_DSN: dsn })
    expect(code).toBe(0)
    for (const name of ['Database rights', 'Database writes', 'Database connections', 'Clock']) {
      expect([name, of(name)?.status]).toEqual([name, 'ok'])
    }
    expect(of('API keys')).toMatchObject({
      status: 'ok',
      detail: '1 of 1 keys in the database are active',
    })
    expect(of('Connection pooler')).toBeUndefined()
    await close()
  })

  test('finds nothing amiss in an empty database but the migrations', async () => {
    const { dsn, sql, close } = await createTestDatabase()
    await sql.unsafe('drop schema public cascade; create schema public')
    const env = { DATABASE_DSN: dsn, HTTP_ADDR: '127.0.0.1:0', CARDGW_PORT: '0' }
    const { checks } = JSON.parse((await commandHere(['doctor', '--json'], env)).out) as {
      readonly checks: readonly Found[]
    }
    const amiss = checks.filter(({ status }) => status !== 'ok')
    const apart = ['Open files', 'Requests to others']
    expect(amiss.filter(({ name }) => !apart.includes(name))).toEqual([
      {
        name: 'Database',
        status: 'warning',
        detail: expect.stringContaining('missing migrations: '),
        fix: 'trilho migrate, or let serve do it at its start',
      },
    ])
    await close()
  })

  test('tells the database of cards from the other, and names its setting', async () => {
    const { dsn, close } = await createTestDatabase()
    const cards = `postgres://trilho:x@${nowhere}/cards`
    const { of } = await doctor({ DATABASE_DSN: dsn, CARDGW_DATABASE_URL: cards })
    expect(of('Database')).toMatchObject({ status: 'ok' })
    const ofCards = of('Database (CARDGW_DATABASE_URL)')
    expect(ofCards).toMatchObject({ status: 'failed' })
    expect(ofCards?.fix).toStartWith('check CARDGW_DATABASE_URL')
    const alone = await doctor({ CARDGW_DATABASE_URL: cards })
    expect(alone.of('Database (CARDGW_DATABASE_URL)')).toMatchObject({ status: 'failed' })
    await close()
  })

  test('names rights that are missing, a pool that is too large, and a database that takes no writes', async () => {
    const { dsn, sql, close } = await createTestDatabase()
    const role = `weak_${process.pid}`
    const name = new URL(dsn).pathname.slice(1)
    await sql.unsafe(`
      create role ${role} login password 'weak' connection limit 20;
      grant select on all tables in schema public to ${role};
      grant insert, update on spi_messages to ${role}`)
    const weak = new URL(dsn)
    weak.username = role
    weak.password = 'weak'
    const sessions = 5
    const others = postgres(dsn, { max: sessions })
    await Promise.all(Array.from({ length: sessions }, () => others`select pg_sleep(0.1)`))
    const { code, of } = await doctor({
      DATABASE_DSN: weak.href,
      TRILHO_DATABASE_CONNECTIONS: '30',
    })
    expect(code).toBe(1)
    const rights = of('Database rights')
    expect(rights?.status).toBe('failed')
    expect(rights?.detail).toContain('DELETE on spi_messages')
    expect(rights?.detail).toContain('INSERT, UPDATE, DELETE on webhook_events')
    expect(of('Database writes')).toMatchObject({ status: 'failed' })
    expect(of('Database connections')).toMatchObject({ status: 'failed' })
    // This role may not see what the sessions of others are.
    const [, used] =
      /, of the 20 that the server grants (\d+) are/.exec(
        of('Database connections')?.detail ?? '',
      ) ?? []
    expect(Number(used)).toBeGreaterThanOrEqual(sessions)
    await others.end()
    await sql.unsafe(`alter database ${name} set default_transaction_read_only = on`)
    const still = await doctor({ DATABASE_DSN: dsn })
    expect(still.of('Database writes')?.detail).toContain('read-only')
    await sql.unsafe(`drop owned by ${role}; drop role ${role}`)
    await close()
  })

  test('names tables that the role may use and does not own', async () => {
    const { dsn, sql, close } = await createTestDatabase()
    const role = `granted_${process.pid}`
    await sql.unsafe(`
      create role ${role} login password 'granted';
      grant all on all tables in schema public to ${role};
      grant all on all sequences in schema public to ${role};
      grant usage, create on schema public to ${role}`)
    const granted = new URL(dsn)
    granted.username = role
    granted.password = 'granted'
    const rights = async () => (await doctor({ DATABASE_DSN: granted.href })).of('Database rights')
    expect(await rights()).toMatchObject({
      status: 'failed',
      detail: expect.stringMatching(
        /^missing: to own \w+ and \d+ more \(partitions, retention, migrations\)$/,
      ),
      fix: expect.stringContaining('member of'),
    })
    await sql.unsafe(`grant ${new URL(dsn).username} to ${role}`)
    expect(await rights()).toMatchObject({ status: 'ok' })
    await sql.unsafe(`drop owned by ${role}; drop role ${role}`)
    await close()
  })

  test('tells a clock that is more than a second away from the database’s', async () => {
    const { dsn, sql, close } = await createTestDatabase()
    const name = new URL(dsn).pathname.slice(1)
    // Found before the server's own function of that name.
    await sql.unsafe(`alter database ${name} set search_path = public, pg_catalog`)
    for (const [seconds, said] of [
      [3, 'ahead of'],
      [-3, 'behind'],
    ] as const) {
      await sql.unsafe(`
        create or replace function public.clock_timestamp() returns timestamptz language sql
        as 'select pg_catalog.clock_timestamp() + interval ''${seconds} s'''`)
      const { of } = await doctor({ DATABASE_DSN: dsn })
      expect(of('Clock')).toMatchObject({ status: 'warning' })
      expect(of('Clock')?.detail).toMatch(new RegExp(`[23]\\d{3} ms ${said} this machine`))
    }
    await close()
  })

  test('names every counterparty that is away, and the setting of each', async () => {
    const { dsn, close } = await createTestDatabase()
    const { code, of } = await doctor({
      DATABASE_DSN: dsn,
      OTEL_EXPORTER_OTLP_ENDPOINT: `http://${nowhere}`,
      CARDGW_NETA_HOST: '127.0.0.1',
      CARDGW_NETA_PORT: '1',
      CARDGW_VAULT_URL: `http://${nowhere}`,
      CARDGW_VAULT_TOKEN: 'a-token-of-the-vault',
      ISPB: '12345678',
      SPI_PRIMARY_URL: `http://${nowhere}`,
      SPI_ROLES: 'OUTBOUND_SEND',
      SPI_SIGN_ENABLED: 'true',
      SPI_SIGNATURE_SERVICE_URL: `http://${nowhere}`,
      DREX_TESTNET_RPC_URLS: `http://${nowhere}`,
      DREX_TESTNET_TOKEN: `0x${'11'.repeat(20)}`,
      DREX_TESTNET_CHAIN_ID: '1337',
      DREX_RPC_ATTEMPTS: '1',
      DREX_WEB3SIGNER_URL: `http://${nowhere}`,
      DREX_AWS_REGION: 'sa-east-1',
      DREX_AWS_KMS_URL: `http://${nowhere}`,
      DREX_AWS_ACCESS_KEY_ID: 'AKIDEXAMPLEEXAMPLE',
      DREX_AWS_SECRET_ACCESS_KEY: 'secret',
      DREX_GCP_CREDENTIALS: 'metadata',
      DREX_GCP_METADATA_URL: `http://${nowhere}`,
    })
    expect(code).toBe(1)
    for (const name of [
      ...['Trace collector', 'Token vault', 'Signature service', 'Network drex_testnet'],
      ...['AWS KMS', 'Google Cloud KMS', 'Web3Signer'],
    ]) {
      expect([name, of(name)?.status]).toEqual([name, 'failed'])
    }
    await close()
  })

  test('and serve refuse in production to accept every payment, and keys in clear', async () => {
    const env = {
      TRILHO_ENVIRONMENT: 'production',
      TRILHO_MASTER_KEY: randomBytes(32).toString('base64'),
      SPI_AUTO_ACCEPT: 'true',
      CARDGW_SECURITY_MODULE: 'software',
    }
    const { of } = await doctor(env)
    expect(of('SPI_AUTO_ACCEPT')?.status).toBe('failed')
    expect(of('CARDGW_SECURITY_MODULE')?.status).toBe('failed')
    const { code, err } = await runProgram(anyVariant, ['serve'], { env })
    expect(code).toBe(78)
    expect(err).toContain('SPI_AUTO_ACCEPT')
    expect(err).toContain('CARDGW_SECURITY_MODULE')
  })

  test('says when too few files may be open', async () => {
    const limits = join(temporaryDirectory(), 'limits')
    writeFileSync(
      limits,
      'Max open files            1024                 524288               files\n',
    )
    expect(await checkFiles(limits)).toMatchObject([{ status: 'warning' }])
    writeFileSync(
      limits,
      'Max open files            4096                 524288               files\n',
    )
    expect(await checkFiles(limits)).toMatchObject([{ status: 'ok' }])
    expect(await checkFiles('/nowhere')).toEqual([])
  })
})

test('doctor says when a process may make few requests at once', async () => {
  const requests = 'Requests to others'
  const few = { status: 'warning', detail: 'a process makes 256 at once, the others wait' }
  expect((await doctor({})).of(requests)).toMatchObject(few)
  // What the runtime refuses, and takes its default instead.
  for (const set of ['0', '65536', 'abc', '4e3']) {
    expect(checkRequests({ BUN_CONFIG_MAX_HTTP_REQUESTS: set })).toMatchObject(few)
  }
  const raised = await doctor({ BUN_CONFIG_MAX_HTTP_REQUESTS: '4096' })
  expect(raised.of(requests)?.status).toBe('ok')
})

const pgbouncer = Bun.which('pgbouncer', { PATH: `${process.env['PATH']}:/usr/sbin` })

test.skipIf(pgbouncer === null)(
  'doctor tells a PgBouncer that pools transactions from one that pools sessions (needs pgbouncer)',
  async () => {
    const { dsn, close } = await createTestDatabase()
    const { username, password, port, pathname } = new URL(dsn)
    const database = pathname.slice(1)
    for (const mode of ['transaction', 'session'] as const) {
      const directory = temporaryDirectory()
      chmodSync(directory, 0o777)
      const listens = freePort()
      writeFileSync(
        join(directory, 'pgbouncer.ini'),
        `[databases]
${database} = host=127.0.0.1 port=${port} user=${username} password=${password}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${listens}
unix_socket_dir =
auth_type = any
pool_mode = ${mode}
ignore_startup_parameters = statement_timeout,extra_float_digits
`,
      )
      const user = process.getuid?.() === 0 ? ['-u', 'nobody'] : []
      const pooler = Bun.spawn([pgbouncer ?? '', ...user, join(directory, 'pgbouncer.ini')], {
        stdout: 'ignore',
        stderr: 'ignore',
      })
      const isThere = async () =>
        Bun.connect({ hostname: '127.0.0.1', port: listens, socket: { data: () => {} } }).then(
          (socket) => {
            socket.end()
            return true
          },
          () => false,
        )
      await until(isThere)
      const { of } = await doctor({
        DATABASE_DSN: `postgres://${username}@127.0.0.1:${listens}/${database}`,
      })
      pooler.kill()
      await pooler.exited
      // In transaction mode it passes prepared statements on since 1.21, if it is told to.
      const expected = mode === 'session' ? ['ok'] : ['failed', 'warning']
      expect(expected).toContain(of('Connection pooler')?.status ?? 'unseen')
      expect(of('Connection pooler')?.detail).toContain(mode)
    }
    await close()
    expect(existsSync(pgbouncer ?? '')).toBe(true)
  },
)
