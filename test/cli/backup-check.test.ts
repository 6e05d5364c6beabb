import { expect, test } from 'bun:test'
import { randomBytes } from 'node:crypto'
import postgres from 'postgres'
import type { BookLine, Check } from '#src/platform/lifecycle/index.ts'
import { createSealer } from '#src/platform/security/index.ts'
import { structure } from '../../drizzle/structure.ts'
import { createLinkKeyStores, ModuleKey } from '../../src/cards/security/index.ts'
import { structureOf } from '../../src/cli/backup-check/structure.ts'
import { commandHere } from '../support/command-here.ts'
import { createTestDatabase, quietLogger } from '../support/database.ts'
import { engines, startEngine } from '../support/engines.ts'
import type { Run } from '../support/program.ts'

type Result = {
  readonly ok: boolean
  readonly last: string | null
  readonly checks: readonly Check[]
  readonly book: readonly BookLine[]
  readonly keys: readonly object[]
}

const key = Uint8Array.from({ length: 32 }, (_, at) => at * 5)
const masterKey = Buffer.from(key).toString('base64')

const check = (dsn: string, more: readonly string[] = [], master = masterKey): Promise<Run> => {
  const env = { DATABASE_DSN: dsn, TRILHO_MASTER_KEY: master }
  return commandHere(['backup-check', ...more], env)
}

const checkJson = async (...given: Parameters<typeof check>) => {
  const [dsn, more = [], master] = given
  const { code, out, err } = await check(dsn, ['--json', ...more], master)
  if (out === '') throw new Error(err)
  const result = JSON.parse(out) as Result
  const failed = result.checks.filter(({ status }) => status === 'failed').map(({ name }) => name)
  return { code, ...result, failed }
}

test('a whole copy passes; what is open and where it ends is told', async () => {
  const { dsn, sql, close } = await createTestDatabase()
  const at = new Date('2026-03-02T10:00:00.000Z')
  await sql`
    insert into webhook_events (id, type, patterns, subject, sequence, data, created_at)
    values ('evt_1', 'x', '{}', 's', 1, '{}', ${at})`
  const newKey = ['keys', 'create', '--scopes', '*', '--json', '--name']
  const ids = await Promise.all(
    ['shop', 'leaked'].map(async (name) => {
      const { out } = await commandHere([...newKey, name], { DATABASE_DSN: dsn })
      return (JSON.parse(out) as { id: string }).id
    }),
  )
  await commandHere(['keys', 'revoke', ids[1] ?? ''], { DATABASE_DSN: dsn })
  const { code, failed, last, book, keys } = await checkJson(dsn)
  expect([code, failed, last]).toEqual([0, [], at.toISOString()])
  expect(keys).toEqual([{ id: ids[0], name: 'shop', account: 'default', expires_at: null }])
  const events = book.find(({ what }) => what === 'webhook events')
  expect(events).toMatchObject({ open: 1 })
  expect(String(events?.oldestOpen)).toBe(at.toISOString())
  const { out } = await check(dsn, ['--quick'])
  expect(out).toMatch(/^webhook events +1 +2026-03-02T10:00:00.000Z$/m)
  expect(out).toContain('the copy ends at 2026-03-02T10:00:00.000Z')
  expect(out).toMatch(new RegExp(`^${ids[0]} +shop +default +never$`, 'm'))
  expect(out).not.toContain('Pages')
  await close()
})

test('whatever this process is to do, what cards have in the database is looked after', async () => {
  const { dsn, sql, close } = await createTestDatabase()
  const { of } = createLinkKeyStores(sql, createSealer(key), quietLogger)
  await of('neta').offer(new Map([['mac', new ModuleKey('0123456789ABCDEF')]]), () => undefined)
  const env = { DATABASE_DSN: dsn, TRILHO_ROLES: 'api' }
  const asApi = async (name: string, more: Readonly<Record<string, string>>) => {
    const { code, out, err } = await commandHere([name, '--json'], { ...env, ...more })
    if (out === '') throw new Error(err)
    return { code, ...JSON.parse(out) }
  }
  const whole = await asApi('backup-check', { TRILHO_MASTER_KEY: masterKey })
  expect(whole.book.map(({ what }: BookLine) => what)).toContain('card transactions')
  const check = { name: 'Sealed card network keys', status: 'ok' }
  expect([whole.code, whole.checks]).toEqual([
    0,
    expect.arrayContaining([expect.objectContaining(check)]),
  ])
  const newKey = Buffer.from(key.map((byte) => byte + 1)).toString('base64')
  const both = { TRILHO_MASTER_KEY: newKey, TRILHO_MASTER_KEY_PREVIOUS: masterKey }
  const rotated = await asApi('rotate-master-key', both)
  expect([rotated.code, rotated.sealed]).toEqual([
    0,
    expect.arrayContaining([{ what: 'card network keys', resealed: 1, current: 0, unreadable: 0 }]),
  ])
  await close()
})

test('what is not whole fails by its name', async () => {
  const { dsn, sql, close } = await createTestDatabase()
  const sealed = createSealer(key).seal(new Uint8Array(16), 'webhook_endpoints/end_1')
  await sql`
    insert into webhook_endpoints (id, url, events, secret, sealed)
    values ('end_1', 'https://example.com', '{}', ${sealed}, true)`
  await sql`
    insert into broker_dead_letters (id, value) overriding system value values (41, '')`
  await sql`alter table card_events add constraint odd check (id > 0) not valid`
  const other = postgres(dsn, { max: 1, connection: { application_name: 'trilho-of-another' } })
  await other`select 1`
  const { code, failed, checks } = await checkJson(dsn)
  await other.end()
  expect(code).toBe(1)
  expect(failed).toEqual(['Nobody works on it', 'Indexes and constraints', 'Sequences'])
  const details = checks.map(({ detail }) => detail).join('\n')
  expect(details).toContain('sessions of trilho-of-another')
  expect(details).toContain('constraint odd')
  expect(details).toContain('broker_dead_letters_id_seq')
  await sql`alter table card_events drop constraint odd`
  await sql`select setval('broker_dead_letters_id_seq', 41)`
  const wrong = Buffer.from(key.toReversed()).toString('base64')
  expect((await checkJson(dsn, ['--quick'], wrong)).failed).toEqual(['Sealed webhook secrets'])
  await sql.unsafe('drop schema public cascade; create schema public')
  expect((await checkJson(dsn)).failed).toEqual(['Schema'])
  await close()
})

test('what --hold lacks is said before anything is read', async () => {
  const { code, out, err } = await check('postgres://127.0.0.1:1/nowhere', ['--hold'])
  expect([code, out]).toEqual([2, ''])
  expect(err).toContain('--hold needs the settings of cards')
})

test('a role that may not look at others still sees that they are there', async () => {
  const { dsn, sql, close } = await createTestDatabase()
  const role = `onlooker_${process.pid}`
  await sql.unsafe(`
    create role ${role} login password 'weak';
    grant select on all tables in schema public to ${role};
    grant select on all sequences in schema public to ${role}`)
  const weak = new URL(dsn)
  weak.username = role
  weak.password = 'weak'
  const other = postgres(dsn, { max: 1, connection: { application_name: 'trilho-of-another' } })
  await other`select 1`
  const { failed } = await checkJson(weak.href, ['--quick'])
  await other.end()
  expect(failed).toEqual(['Nobody works on it'])
  await sql.unsafe(`drop owned by ${role}; drop role ${role}`)
  await close()
})

test('a plain role that owns the copy is told what it may not read, and that nothing is damaged', async () => {
  const { dsn, sql, close } = await createTestDatabase()
  const role = `owner_${process.pid}`
  await sql.unsafe(`create role ${role} login password 'weak'`)
  const [{ name = '' } = {}] = await sql<{ name: string }[]>`select current_database() as name`
  await sql.unsafe(`
    alter database ${name} owner to ${role};
    alter schema public owner to ${role}`)
  const tables = await sql<{ table: string }[]>`
    select oid::regclass::text as table from pg_class
    where relkind in ('r', 'p') and relnamespace = 'public'::regnamespace`
  for (const { table } of tables) await sql.unsafe(`alter table ${table} owner to ${role}`)
  // Long values that cannot be compressed lie in pg_toast.
  await sql`insert into broker_dead_letters (value) values (${randomBytes(20_000)})`
  const plain = new URL(dsn)
  plain.username = role
  plain.password = 'weak'
  const pagesOf = async () => {
    const { failed, checks } = await checkJson(plain.href)
    return [failed, checks.find((one) => one.name === 'Pages')]
  }
  expect(await pagesOf()).toEqual([
    [],
    expect.objectContaining({
      status: 'warning',
      detail: expect.stringMatching(/tables are closed to the role, such as pg_toast\./) as unknown,
    }),
  ])
  await sql.unsafe(`grant pg_read_all_data to ${role}`)
  expect(await pagesOf()).toEqual([
    [],
    expect.objectContaining({ detail: expect.stringMatching(/^all \d+ of/) as unknown }),
  ])
  await sql.unsafe(
    `reassign owned by ${role} to current_user; drop owned by ${role}; drop role ${role}`,
  )
  await close()
})

test('the first number of a sequence is free until it was given out', async () => {
  const { dsn, sql, close } = await createTestDatabase()
  const insert = sql`insert into broker_dead_letters (id, value) overriding system value values (1, '')`
  await insert
  const { failed, checks } = await checkJson(dsn, ['--quick'])
  expect(failed).toEqual(['Sequences'])
  expect(checks.find(({ status }) => status === 'failed')?.detail).toContain(
    'broker_dead_letters_id_seq',
  )
  await sql`select setval('broker_dead_letters_id_seq', 1)`
  expect((await checkJson(dsn, ['--quick'])).failed).toEqual([])
  await close()
})

test('what a restore left out is named, on a table with partitions too', async () => {
  const { dsn, sql, close } = await createTestDatabase()
  const lost = [
    'constraint pix_received_charge_id_pix_charges_id_fk on pix_received',
    'constraint spi_history_message_id_position_pk on spi_history',
    'constraint spi_reports_request_id_unique on spi_reports',
    'constraint webhook_attempts_delivery_id_webhook_deliveries_id_fk on webhook_attempts',
  ]
  for (const what of lost) {
    const [, constraint, , table] = what.split(' ')
    await sql.unsafe(`alter table ${table} drop constraint ${constraint}`)
  }
  await sql`drop index spi_messages_status`
  await sql`drop index dict_claims_going`
  const { failed, checks } = await checkJson(dsn, ['--quick'])
  expect(failed).toEqual(['Indexes and constraints'])
  const indexes = [
    'index dict_claims_going on dict_claims',
    'index spi_messages_status on spi_messages',
  ]
  const named = [...lost, ...indexes].map((what) => `no ${what}`).join(', ')
  expect(checks.find(({ status }) => status === 'failed')?.detail).toBe(named)
  await close()
})

test.each(engines)(
  '$name has what is looked for after all migrations, and no more',
  async (engine) => {
    await using server = await startEngine(engine)
    const { sql, close } = server.open()
    expect(await structureOf(sql)).toEqual(structure)
    await close()
  },
)
