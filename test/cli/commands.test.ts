import { describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import { iso8583Inspector } from '#src/cards/index.ts'
import { type Program, runCli } from '#src/cli/index.ts'
import {
  defineSettings,
  loadSettings,
  platformSettings,
  setting,
} from '#src/platform/config/index.ts'
import { integer, secret } from '#src/platform/config/kinds.ts'
import { databaseSettings } from '#src/platform/database/index.ts'
import type { Feature, Inspector } from '#src/platform/lifecycle/index.ts'
import { commandHere } from '../support/command-here.ts'
import { createTestDatabase } from '../support/database.ts'
import { temporaryDirectory } from '../support/temporary.ts'

const probeSettings = defineSettings({
  token: setting('SPI_TOKEN', secret(), { doc: 'A secret.' }),
  size: setting('SPI_SIZE', integer(1, 9), { default: '3', doc: 'A size.' }),
})

const probe: Feature = {
  name: 'probe',
  checks: async () => [
    { name: 'Counterparty', status: 'failed', detail: 'does not answer', fix: 'start it' },
  ],
}

const broken: Feature = { name: 'broken', checks: () => Promise.reject(new Error('inner')) }

const pairs: Inspector = {
  name: 'rsfn',
  summary: 'a=b lines',
  matches: (input) => input.includes(0x3d),
  explain: (input, options) => {
    const [name = '', value = ''] = Buffer.from(input).toString().trim().split('=')
    if (value === '') throw new Error('nothing after =')
    return {
      title: 'a pair',
      fields: [
        { name: 'name', value: name },
        { name: 'both', children: [{ name, value, meaning: 'as written' }] },
      ],
      value: { [name]: value, big: 12n },
      ...(options?.validateWith && {
        failure: { message: `invalid: ${name}`, violations: [name] },
      }),
    }
  },
}

const program = (databases: readonly string[] = []): Program => ({
  version: '1.2.3',
  settingGroups: [
    { title: 'Probe', settings: probeSettings },
    { title: 'Platform', settings: platformSettings },
    { title: 'Database', settings: databaseSettings },
  ],
  inspectors: [pairs, iso8583Inspector],
  migrations: [
    { name: '0001_one', sql: 'create table one (id int)' },
    { name: '0002_two', sql: 'create table two (id int)' },
  ],
  structure: [],
  load: (env) => {
    const loaded = loadSettings({ platform: platformSettings, probe: probeSettings }, env)
    return {
      ...loaded,
      platform: loaded.values.platform,
      database: databases[0],
      databases,
      connectionsMax: 2,
      auditRetentionDays: 400,
      createFeatures: () => [probe, broken],
    }
  },
})

const run = async (
  argv: readonly string[],
  options: {
    readonly env?: Readonly<Record<string, string>>
    readonly input?: string
    readonly databases?: readonly string[]
  } = {},
) => {
  let out = ''
  let err = ''
  const io = {
    env: options.env ?? {},
    out: (text: string) => {
      out += text
    },
    err: (text: string) => {
      err += text
    },
    taken: async () => {},
    readInput: async () => new TextEncoder().encode(options.input ?? ''),
  }
  const code = await runCli(argv, io, program(options.databases))
  return { code, out, err }
}

describe('the command line', () => {
  test('nothing that it prints steers the terminal, whoever wrote it', async () => {
    const hostile = 'a\u001b[2J\u009b2J\u061c\u202eb'
    const shown = 'a\\u001b[2J\\u009b2J\\u061c\\u202eb'
    expect((await run([hostile])).err).toContain(`no command ${shown};`)
    expect((await run(['config', hostile])).err).toContain(`unexpected argument ${shown};`)
    const { out } = await run(['inspect', '--json'], { input: `${hostile}=${hostile}` })
    expect(out).toContain(`"${shown}"`)
    expect(JSON.parse(out)).toMatchObject({ [hostile]: hostile })
    using server = Bun.serve({
      port: 0,
      hostname: '127.0.0.1',
      fetch: () => new Response(hostile, { status: 503 }),
    })
    const env = { HTTP_ADDR: `127.0.0.1:${server.port}` }
    expect(await run(['ready'], { env })).toMatchObject({ code: 1, out: `${shown}\n` })
  })

  test('without a command, and with help, shows the commands', async () => {
    for (const argv of [[], ['--help'], ['help']]) {
      const { code, out } = await run(argv)
      expect(code).toBe(0)
      expect(out).toContain('COMMAND')
    }
    expect((await run(['help', 'keys'])).out).toStartWith('trilho keys: ')
    expect((await run(['--version'])).out).toStartWith('trilho 1.2.3')
  })

  test('refuses what it does not know with 2', async () => {
    expect(await run(['fly'])).toMatchObject({ code: 2, out: '' })
    expect((await run(['config', '--fly'])).code).toBe(2)
    expect((await run(['config', 'extra'])).err).toContain('unexpected argument extra')
  })
})

describe('what the system refuses is told with the option or setting that it is about', () => {
  const nowhere = '/proc/nothing/keys.json'
  const closed = 'postgres://trilho:hush@127.0.0.1:9/trilho'
  const key = ['--name', 'shop', '--scopes', 'spi:transform']

  test.each([
    ['an option', ['keys', 'create', '--file', nowhere, ...key], {}, '--file: ENOENT'],
    ['with an equals sign', ['keys', 'create', `--file=${nowhere}`, ...key], {}, '--file: ENOENT'],
    ['a variable', ['keys', 'create', ...key], { API_KEYS_FILE: nowhere }, 'API_KEYS_FILE: ENOENT'],
    ['a folder', ['sim', 'central-bank', '--signers', '/nope'], {}, '--signers: ENOENT'],
    ['a server', ['migrate'], { DATABASE_DSN: closed }, 'DATABASE_DSN: connect ECONNREFUSED'],
    ['what is no setting', ['inspect', '/nope'], { HOME: '/nope' }, 'ENOENT'],
    ['a word', ['inspect', '/nope'], {}, 'ENOENT'],
  ] as const)('%s', async (_, argv, env, told) => {
    const databases = 'DATABASE_DSN' in env ? [env.DATABASE_DSN] : []
    const { code, err } = await run(argv, { env, databases })
    expect(code).toBe(1)
    expect(err).toStartWith(`trilho ${argv[0]}: ${told}`)
    expect(err).not.toContain('hush')
  })
})

describe('config', () => {
  test('shows values and where they come from; a secret is masked', async () => {
    const env = { SPI_TOKEN: 'hush', SPI_SIZE: '5' }
    const { code, out } = await run(['config'], { env })
    expect(code).toBe(0)
    expect(out).toMatch(/^SPI_TOKEN +\*\*\* +environment$/m)
    expect(out).toMatch(/^SPI_SIZE +5 +environment$/m)
    expect(out).not.toContain('hush')
  })

  test('ends with 78 and the table when something is wrong', async () => {
    const { code, err } = await run(['config'], { env: { SPI_SIZE: '10', SPI_TOKN: '1' } })
    expect(code).toBe(78)
    expect(err).toContain('is out of range')
    expect(err).toContain('did you mean SPI_TOKEN?')
  })

  test('writes the tables of the documentation', async () => {
    const { out } = await run(['config', '--markdown'])
    expect(out).toStartWith('## Probe\n')
    expect(out).toContain('| `SPI_TOKEN`<br>or `SPI_TOKEN_FILE` | none | secret | A secret. |')
  })
})

describe('keys', () => {
  const file = () => ['--file', join(temporaryDirectory(), 'keys.json')]

  test('are made with scopes and an end, listed and revoked', async () => {
    const at = file()
    const create = ['keys', 'create', '--name', 'shop', '--scopes', 'cards:*,spi:send']
    const made = await run([...create, '--days', '3', '--test', '--json', ...at])
    const { id, key } = JSON.parse(made.out) as { id: string; key: string }
    expect(key).toStartWith('trl_test_')
    expect((await run(['keys', 'list', ...at])).out).toMatch(
      new RegExp(`${id} +shop +default +active`),
    )
    expect((await run(['keys', 'revoke', id, '--json', ...at])).out).toBe(
      `{"id":"${id}","revoked":true}\n`,
    )
    expect((await run(['keys', 'list', ...at])).out).toMatch(
      new RegExp(`${id} +shop +default +revoked`),
    )
  })

  test('are refused where what they depend on is set wrong', async () => {
    const env = { SPI_SIZE: '12', TRILHO_ENVIRONMENT: 'prod' }
    const create = ['keys', 'create', '--name', 'n', '--scopes', '*']
    for (const argv of [create, [...create, ...file()]]) {
      const { code, out, err } = await run(argv, {
        env,
        databases: ['postgres://nowhere.invalid/a'],
      })
      expect([code, out]).toEqual([78, ''])
      expect(err).toContain('TRILHO_ENVIRONMENT')
    }
  })

  test('are made, listed, changed, replaced and revoked whatever else is set wrong', async () => {
    const at = file()
    const env = { SPI_SIZE: '12', LOG_LEVEL: 'loud' }
    const create = ['keys', 'create', '--name', 'n', '--scopes', '*', ...at]
    const { id } = JSON.parse((await run([...create, '--json'], { env })).out) as { id: string }
    const change = ['change', id, '--days', '1']
    for (const argv of [['list'], change, ['rotate', id], ['revoke', id]]) {
      expect(await run(['keys', ...argv, ...at], { env })).toMatchObject({ code: 0 })
      const wrong = { TRILHO_ENVIRONMENT: 'prod' }
      expect((await run(['keys', ...argv, ...at], { env: wrong })).code).toBe(78)
    }
  })

  test('a command asks for the settings that it reads, and no others', async () => {
    const wrong = { SPI_SYNC_ENABLED: 'soon', LOG_LEVEL: 'loud' }
    const commands = {
      DATABASE_DSN: [
        ['audit', 'verify'],
        ['audit', 'export'],
        ['dlq', 'list'],
        ['lists', 'show', 'holidays'],
        ['networks', 'show'],
        ['reconcile', '--day', '2026-03-02'],
        ['rebuild'],
      ],
      TRILHO_CERTS_DIR: [['certs', 'list']],
    }
    for (const [name, all] of Object.entries(commands)) {
      for (const argv of all) {
        const { code, err } = await commandHere(argv, wrong)
        expect([argv, code]).toEqual([argv, name === 'DATABASE_DSN' ? 1 : 2])
        expect(err).toContain(name)
        expect((await commandHere(argv, { ...wrong, DATABASE_DSN: 'nonsense' })).code).toBe(78)
      }
    }
    const cards = { CARDGW_DATABASE_URL: 'nonsense', DATABASE_DSN: 'postgres://nowhere.invalid/t' }
    expect((await commandHere(['audit', 'verify'], cards)).code).toBe(78)
  })

  test('are never kept in the database of cards, nor is what else no gateway looks for there', async () => {
    const env = { CARDGW_DATABASE_URL: 'postgres://nowhere.invalid/cards' }
    for (const argv of [
      ['keys', 'list'],
      ['dlq', 'list'],
      ['lists', 'show', 'holidays'],
      ['networks', 'show'],
      ['reconcile', '--day', '2026-03-02'],
      ['rebuild'],
    ]) {
      const { code, err } = await commandHere(argv, env)
      expect([argv, code]).toEqual([argv, argv[0] === 'keys' ? 2 : 1])
      expect(err).toContain('set DATABASE_DSN')
    }
  })

  test('belong to the account that is named', async () => {
    const at = file()
    const create = ['keys', 'create', '--name', 'shop', '--scopes', 'cards:*', '--account', 'north']
    expect((await run([...create, ...at])).code).toBe(0)
    expect((await run(['keys', 'list', ...at])).out).toMatch(/ shop +north +active/)
  })

  test('need a name, known scopes, days within bounds, and a place', async () => {
    const create = (...more: string[]) => run(['keys', 'create', ...file(), ...more])
    expect((await create('--scopes', '*')).err).toContain('--name')
    expect((await create('--name', 'x'.repeat(101), '--scopes', '*')).code).toBe(2)
    expect((await create('--name', 'x')).err).toContain('--scopes')
    expect((await create('--name', 'x', '--scopes', 'cards:fly')).err).toContain(
      'no scope cards:fly',
    )
    for (const [days, code] of [
      ['0', 2],
      ['1', 0],
      ['3650', 0],
      ['3651', 2],
      ['1.5', 2],
    ] as const) {
      expect((await create('--name', 'x', '--scopes', '*', '--days', days)).code).toBe(code)
    }
    expect((await run(['keys', 'list'])).err).toContain('--file')
    expect((await run(['keys', 'revoke', ...file()])).err).toContain('the id')
  })
})

describe('inspect', () => {
  test('shows a tree, or the typed value', async () => {
    const tree = await run(['inspect'], { input: 'a=b\n' })
    expect(tree.out).toBe('a pair\n├─ name: a\n└─ both\n   └─ a: b  (as written)\n')
    expect((await run(['inspect', '--json'], { input: 'a=b' })).out).toBe('{"a":"b","big":"12"}\n')
    expect((await run(['inspect', '--kinds'])).out).toStartWith('rsfn: a=b lines\niso8583: ')
  })

  test('--validate ends with 1 when the message is invalid, and says why', async () => {
    const tree = await run(['inspect', '--validate'], { input: 'a=b' })
    expect(tree).toMatchObject({ code: 1, err: 'trilho inspect: invalid: a\n' })
    expect(await run(['inspect', '--validate', '--json'], { input: 'a=b' })).toMatchObject({
      code: 1,
      out: '{"error":{"message":"invalid: a","violations":["a"]},"a":"b","big":"12"}\n',
    })
    expect(await run(['inspect'], { input: 'a=b' })).toMatchObject({ code: 0 })
  })

  test('a card message that ends within a field: the error, and the fields before it, masked', async () => {
    const hex = `303130304020000000001000${'3136'}${'34'.repeat(4)}${'31'.repeat(12)}${'30'.repeat(6)}0102`
    const { code, out } = await run(['inspect', '--as', 'iso8583', '--json'], { input: hex })
    expect(code).toBe(1)
    expect(JSON.parse(out)).toMatchObject({
      error: { code: 'iso8583_truncated', field: '52', offset: 36 },
      mti: '0100',
      fields: { 2: '444411******1111', 11: '000000' },
    })
    expect(Object.keys(JSON.parse(out).fields)).toEqual(['2', '11'])
  })

  test('never lets a message steer the terminal', async () => {
    const { out } = await run(['inspect'], { input: 'a=\u001b[2J\u0007' })
    expect(out).toContain('\\u001b[2J\\u0007')
    const named = await run(['inspect'], { input: '\u001b[2J\u202e=b' })
    expect(named.out).toContain('─ \\u001b[2J\\u202e: b')
    const refused = await run(['inspect', '--validate'], { input: '\u001b[2J=b' })
    expect(refused.err).toBe('trilho inspect: invalid: \\u001b[2J\n')
  })

  test('says what it cannot recognise, and what is wrong with what it can', async () => {
    expect(await run(['inspect'], { input: 'ab' })).toMatchObject({ code: 2 })
    expect((await run(['inspect', '--as', 'other'], { input: 'ab' })).err).toContain(
      'no kind other',
    )
    const bad = await run(['inspect', '--as', 'rsfn'], { input: 'ab=' })
    expect(bad).toMatchObject({ code: 1, err: 'trilho inspect: nothing after =\n' })
    expect((await run(['inspect', '/nowhere/at/all'])).code).toBe(1)
  })
})

describe('doctor', () => {
  const env = { HTTP_ADDR: '127.0.0.1:0', CARDGW_PORT: '0' }

  test('asks the features, and ends with 1 when something failed', async () => {
    const { code, out } = await run(['doctor'], { env })
    expect(code).toBe(1)
    expect(out).toContain('✗ Counterparty: does not answer\n    start it\n')
    expect(out).toContain('✗ broken: the check itself failed')
    expect(out).not.toContain('inner')
  })

  test('names a port that is taken and keys that are none', async () => {
    const busy = Bun.listen({ hostname: '127.0.0.1', port: 0, socket: { data: () => {} } })
    const file = join(temporaryDirectory(), 'keys.json')
    const { out } = await run(['doctor'], {
      env: {
        HTTP_ADDR: `127.0.0.1:${busy.port}`,
        CARDGW_PORT: '0',
        API_KEYS_FILE: file,
        TRILHO_ADMIN_ADDR: `127.0.0.1:${busy.port}`,
      },
    })
    busy.stop(true)
    expect(out).toMatch(/^! HTTP_ADDR: .*cannot be opened/m)
    expect(out).toMatch(/^! TRILHO_ADMIN_ADDR: .*cannot be opened/m)
    expect(out).toContain(`! API keys: 0 of 0 keys are active; ${file} does not exist`)
    await Bun.write(file, '{"keys":1}')
    const broken = await run(['doctor'], { env: { ...env, API_KEYS_FILE: file } })
    expect(broken.out).toContain('✗ API keys: the key file is malformed')
  })

  test('with --fix-hints shows what is amiss as one table, the worst first', async () => {
    const { code, out } = await run(['doctor', '--fix-hints'], { env })
    expect(code).toBe(1)
    const [head, ...rows] = out.trimEnd().split('\n')
    expect(head).toMatch(/^STATUS +WHAT +FOUND +HOW TO FIX$/)
    expect(rows[0]).toMatch(/^failed +Counterparty +does not answer +start it$/)
    const statuses = rows.map((row) => row.slice(0, row.indexOf(' ')))
    expect(statuses).toEqual(['failed', 'failed', 'warning', 'warning'])
    expect(out).not.toContain('is free')
  })

  test('with bad settings says only that', async () => {
    const { code, out } = await run(['doctor', '--json'], { env: { SPI_SIZE: 'x' } })
    expect(code).toBe(1)
    expect(JSON.parse(out)).toMatchObject({ ok: false, checks: [{ name: 'SPI_SIZE' }] })
  })
})

describe('migrate', () => {
  test('lists, applies, and is done', async () => {
    const { dsn, sql, close } = await createTestDatabase()
    await sql.unsafe('drop schema public cascade; create schema public')
    const databases = [dsn]
    expect((await run(['migrate', '--dry-run'], { databases })).out).toBe(
      'missing 0001_one\nmissing 0002_two\n',
    )
    expect((await run(['migrate'], { databases })).out).toBe('applied 0001_one\napplied 0002_two\n')
    expect((await run(['migrate'], { databases })).out).toBe('the schema is up to date\n')
    // A job that migrates has no use for other settings, nor for the secrets that production asks for.
    const others = { databases, env: { SPI_SIZE: 'x' } }
    expect((await run(['migrate'], others)).out).toBe('the schema is up to date\n')
    await close()
    expect((await run(['migrate'])).err).toContain('DATABASE_DSN')
  })
})
