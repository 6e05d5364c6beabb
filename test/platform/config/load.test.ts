import { describe, expect, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import {
  defineSettings,
  type Environment,
  loadSettings,
  platformSettings,
  problemsTable,
  setting,
  settingsMarkdown,
} from '#src/platform/config/index.ts'
import {
  boolean,
  databaseUrl,
  decimal,
  hostPort,
  integer,
  type Kind,
  list,
  listenAddress,
  oneOf,
  pairs,
  pem,
  secret,
  secretUrl,
  text,
  url,
  urlOrHostPort,
} from '#src/platform/config/kinds.ts'
import { temporaryDirectory } from '../../support/temporary.ts'

const directory = temporaryDirectory()
const file = (name: string, content: string): string => {
  const path = join(directory, name)
  writeFileSync(path, content)
  return path
}

const pemText = '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n'

/** What one setting gives for one text: the value, or the problem. */
const parse = (kind: Kind<unknown>, value: string): unknown => {
  const group = defineSettings({ it: setting('SPI_IT', kind, { doc: '' }) })
  const { values, problems } = loadSettings({ group }, { SPI_IT: value })
  return problems[0] === undefined ? values.group.it : problems[0].problem
}

describe('kinds', () => {
  test.each([
    [':8080', { host: undefined, port: 8080 }],
    ['127.0.0.1:8080', { host: '127.0.0.1', port: 8080 }],
    ['[::1]:8080', { host: '::1', port: 8080 }],
    ['gateway.bank.example:65535', { host: 'gateway.bank.example', port: 65535 }],
    [':0', { host: undefined, port: 0 }],
  ])('listen address %s', (value, expected) => {
    expect(parse(listenAddress(), value)).toEqual(expected)
  })

  test.each([
    ['localhost:4317', 'http://localhost:4317'],
    ['[::1]:4317', 'http://[::1]:4317'],
    ['http://localhost:4317', 'http://localhost:4317'],
    ['https://otel.example', 'https://otel.example'],
    ['ftp://h:1', 'has another protocol'],
    ['localhost', 'is not host:port'],
    ['u:S3cret@h:1', 'is not host:port'],
  ])('URL or address %s', (value, expected) => {
    expect(parse(urlOrHostPort('http', 'https'), value)).toBe(expected)
  })

  test.each(['8080', '::1:8080', ':65536', '127.0.0.1', 'http://x:1', ':', '[127.0.0.1:80'])(
    'no listen address: %s',
    (value) => {
      expect(parse(listenAddress(), value)).toBeString()
    },
  )

  test('pairs of names and values, percent-encoded', () => {
    expect(parse(pairs(), 'a=1, b.c=x%2Cy%3Dz=w ,d=')).toEqual({ a: '1', 'b.c': 'x,y=z=w', d: '' })
    const many = (count: number) => Array.from({ length: count }, (_, n) => `n${n}=1`).join()
    expect(parse(pairs(), many(64))).toBeObject()
    expect(parse(pairs(), many(65))).toBe('holds more than 64 pairs')
    expect(parse(pairs(), 'a=1,a=2')).toBe('has a name twice')
    for (const bad of ['a', '=1', ',', 'a b=1']) expect(parse(pairs(), bad)).toBeString()
    for (const bad of ['a=%', 'a=%ff', 'a=x%0d%0ay:z']) {
      expect(parse(pairs(), bad)).toBe('has a value of another form')
    }
  })

  test.each([
    ['grpc-timeout=1', 'has a name of another form'],
    ['Content-Type=x', 'has a name of another form'],
    ['te=x', 'has a name of another form'],
    [':path=x', 'has a name of another form'],
    ['x=%c3%a9', 'has a value of another form'],
  ])('no header of exports: %s', (value, problem) => {
    const group = { headers: platformSettings.otlpHeaders }
    const { problems } = loadSettings({ group }, { OTEL_EXPORTER_OTLP_HEADERS: value })
    expect(problems.map((one) => [one.problem, one.value])).toEqual([[problem, '***']])
  })

  test('whole numbers within their bounds, and one past them', () => {
    expect(parse(integer(1, 600), '1')).toBe(1)
    expect(parse(integer(1, 600), '600')).toBe(600)
    expect(parse(integer(1, 600), '0')).toBe('is out of range')
    expect(parse(integer(1, 600), '601')).toBe('is out of range')
    for (const bad of ['1.5', '1e2', 'NaN', '0x10', ' 1', '']) {
      expect(parse(integer(1, 600), bad)).not.toBeNumber()
    }
    expect(parse(decimal(0, 1), '0.25')).toBe(0.25)
    expect(parse(decimal(0, 1), '1.01')).toBe('is out of range')
  })

  test('words', () => {
    expect(parse(boolean(), 'TRUE')).toBe(true)
    expect(parse(boolean(), '0')).toBe(false)
    expect(parse(boolean(), 'yes')).toBeString()
    expect(parse(oneOf('json', 'text'), 'text')).toBe('text')
    expect(parse(oneOf('json', 'text'), 'TEXT')).toBe('is not one of the values')
    expect(parse(text({ pattern: /^\d{8}$/ }), '12345678')).toBe('12345678')
    expect(parse(text({ pattern: /^\d{8}$/ }), '1234567')).toBe('has another form')
  })

  test('lists', () => {
    const roles = list(oneOf('WORKER', 'OUTBOUND_SEND'))
    expect(parse(roles, ' WORKER, OUTBOUND_SEND,')).toEqual(['WORKER', 'OUTBOUND_SEND'])
    expect(parse(roles, 'WORKER,WORKER')).toBe('names an item twice')
    expect(parse(roles, 'WORKER,OTHER')).toBe('is not one of the values')
    expect(parse(roles, ',')).toBe('is empty')
    expect(parse(list(hostPort()), 'a:1,b:2')).toEqual(['a:1', 'b:2'])
    expect(parse(list(hostPort()), 'a:1,b')).toBe('is not host:port')
    expect(parse(list(hostPort(), 1), 'a:1,b:2')).toBe('holds more than 1 items')
  })

  test('URLs', () => {
    expect(parse(url('https'), 'https://x/y')).toBe('https://x/y')
    expect(parse(url('https'), 'http://x/y')).toBe('has another protocol')
    expect(parse(url('https'), 'x')).toBe('is not a URL')
    expect(parse(secretUrl('postgres'), 'postgres:///db')).toBe('postgres:///db')
  })
})

describe('secrets and files', () => {
  const settings = defineSettings({
    token: setting('WEBHOOK_SECRET', secret(16), { doc: 'Secret.' }),
    dsn: setting('DATABASE_DSN', databaseUrl(), { doc: 'Database.' }),
    rpc: setting('DREX_RPC_URLS', list(secretUrl('http', 'https')), { doc: 'Nodes.' }),
    otlp: setting('OTEL_ENDPOINT', url('http'), { doc: 'Collector.' }),
    cert: setting('CERT_PATH', pem(), { doc: 'Certificate.' }),
  })
  const load = (env: Environment) => loadSettings({ settings }, env)

  test('a secret also comes from NAME_FILE, without the last line end', () => {
    const path = file('secret', 'abcdefghijklmnop\n')
    expect(load({ WEBHOOK_SECRET_FILE: path }).values.settings.token).toBe('abcdefghijklmnop')
    expect(load({ WEBHOOK_SECRET: 'abcdefghijklmnop' }).values.settings.token).toHaveLength(16)
    const both = load({ WEBHOOK_SECRET: 'abcdefghijklmnop', WEBHOOK_SECRET_FILE: path })
    expect(both.problems[0]?.problem).toContain('so is WEBHOOK_SECRET_FILE')
  })

  test('a file as an editor of another system leaves it holds the same secret', () => {
    const path = file('secret', '\ufeffabcdefghijklmnop\r\n')
    expect(load({ WEBHOOK_SECRET_FILE: path }).values.settings.token).toBe('abcdefghijklmnop')
  })

  test.each(['abcdefghijklmnop\nq', 'abcdefghijklmnop\n\n', 'abcdefghij\tklmnop'])(
    'a secret %j, which no header can carry, is refused',
    (text) => {
      const path = file('secret', text)
      const { problems } = load({ WEBHOOK_SECRET_FILE: path })
      expect(problems).toMatchObject([
        { name: 'WEBHOOK_SECRET_FILE', problem: expect.stringContaining('line break') },
      ])
    },
  )

  test('PEM comes from a path or from base64', () => {
    const path = file('cert.pem', pemText)
    expect(load({ CERT_PATH: path }).values.settings.cert).toEqual({ text: pemText, path })
    const inline = Buffer.from(pemText).toString('base64')
    expect(load({ CERT_BASE64: inline }).values.settings.cert?.text).toBe(pemText)
    const lines = inline.replace(/.{64}/g, '$&\r\n')
    for (const text of [lines, ` ${inline}\n`, inline.replace(/=+$/, '')]) {
      expect(load({ CERT_BASE64: text }).values.settings.cert?.text).toBe(pemText)
    }
    const binary = Buffer.from([0x30, 0x82, 0xff, 0xfe]).toString('base64')
    for (const text of [
      '%%',
      `${inline}=`,
      `${inline}==A`,
      `-${inline}`,
      `${inline.slice(1)}_`,
      binary,
    ]) {
      expect(load({ CERT_BASE64: text }).problems[0]).toMatchObject({
        name: 'CERT_BASE64',
        problem: 'is not base64 of a text',
      })
    }
    expect(load({ CERT_BASE64: inline.slice(0, -8) }).problems[0]?.problem).toBe(
      'holds no PEM block',
    )
    expect(load({ CERT_PATH: file('empty.pem', 'x') }).problems[0]?.problem).toBe(
      'holds no PEM block',
    )
    expect(load({ CERT_PATH: join(directory, 'absent') }).problems[0]?.problem).toContain('ENOENT')
  })

  test('neither problems nor the effective settings show a secret', () => {
    const env = {
      WEBHOOK_SECRET: 'tooshort',
      DATABASE_DSN: 'postgres://user:p4ssw0rd@host/db?options=tok3n',
    }
    const { problems, effective } = load(env)
    expect(problems).toHaveLength(1)
    const shown = problemsTable(problems) + JSON.stringify(effective)
    expect(shown).toContain('postgres://***@host/db')
    for (const hidden of ['tooshort', 'p4ssw0rd', 'tok3n']) expect(shown).not.toContain(hidden)
  })

  test.each([
    ['DATABASE_DSN', 'postgres://u:p@S3cret@db:5432/d', 'postgres://***@db:5432/d'],
    ['DATABASE_DSN', 'postgres://u:1/S3cret@db/d', '***'],
    ['DATABASE_DSN', 'postgres://u:1?S3cret@db/d', '***'],
    ['DATABASE_DSN', 'postgres://u:s/S3cret==@db:5432/d', '***'],
    ['DATABASE_DSN', 'u:S3cret@db/d', '***'],
    ['DATABASE_DSN', 'host=db password=S3cret', '***'],
    ['DATABASE_DSN', 'postgres://h1,h2:6432/d', 'postgres://h1,h2:6432/d'],
    ['DREX_RPC_URLS', 'http://a:1,https://b/v3/S3cret', 'http://a:1,https://b/***'],
    ['DREX_RPC_URLS', 'http://u:1,S3cret@b', '***'],
    ['OTEL_ENDPOINT', 'http://u:p@ss/S3cret@h', 'http://***'],
    ['OTEL_ENDPOINT', 'http://u:S3@cret@h/v1', 'http://***@h/v1'],
    ['OTEL_ENDPOINT', 'u:S3cret@h', '***'],
    ['OTEL_ENDPOINT', 'collector:4317', 'collector:4317'],
  ])('%s: of %s only %s is shown', (name, value, shown) => {
    const { problems, effective } = load({ [name]: value })
    expect(effective.find((one) => one.name === name)?.value).toBe(shown)
    for (const problem of problems) expect(problem.value).toBe(shown)
    expect(JSON.stringify(problems)).not.toContain('S3')
  })
})

describe('loading', () => {
  const group = defineSettings({
    port: setting('CARDGW_PORT', integer(1, 65_535), { default: '8080', doc: 'Port | of cards.' }),
    ispb: setting('ISPB', text({ pattern: /^\d{8}$/ }), { doc: 'ISPB.' }),
  })

  test('defaults, empty variables and what is absent', () => {
    const { values, problems } = loadSettings({ group }, { CARDGW_PORT: '' })
    expect(values.group).toEqual({ port: 8080, ispb: undefined })
    expect(problems).toEqual([])
  })

  test('all problems come together, with how to fix each', () => {
    const { problems } = loadSettings({ group }, { CARDGW_PORT: 'x', ISPB: '1' })
    expect(problems.map(({ name }) => name)).toEqual(['CARDGW_PORT', 'ISPB'])
    const [header, ...rows] = problemsTable(problems).split('\n')
    expect(header).toStartWith('SETTING')
    expect(rows[0]).toContain('set CARDGW_PORT to the expected form, or unset it for 8080')
  })

  test('unknown names with our prefixes are warned of, others are not ours', () => {
    const names = ['SPI_NSU', 'PIX_API_ADDR', 'DICT_URL', 'GRPC_ADDR', 'OTEL_SERVICE_NAME']
    const more = names.map((name) => [name, setting(name, text(), { doc: 'x' })])
    const groups = { group, more: defineSettings(Object.fromEntries(more)) }
    const env = {
      CARDGW_PROT: '1',
      SPI_ABC: '1',
      OTHER: '1',
      PIX_API_ADR: '1',
      DICT_URI: '1',
      GRPC_ADR: '1',
      GRPC_TRACE: 'all',
      OTEL_SERVICE_NAMES: '1',
    }
    const { warnings } = loadSettings(groups, env)
    const told = (name: string, near: string) =>
      `${name} is no setting of this program and has no effect; did you mean ${near}?`
    expect(warnings).toEqual([
      told('CARDGW_PROT', 'CARDGW_PORT'),
      told('DICT_URI', 'DICT_URL'),
      told('GRPC_ADR', 'GRPC_ADDR'),
      told('PIX_API_ADR', 'PIX_API_ADDR'),
      'SPI_ABC is no setting of this program and has no effect',
    ])
  })

  test('the tables of the documentation', () => {
    expect(settingsMarkdown([{ title: 'Cards', settings: group }])).toBe(
      [
        '## Cards',
        '',
        '| Variable | Default | Value | Meaning |',
        '|---|---|---|---|',
        '| `CARDGW_PORT` | `8080` | whole number from 1 to 65535 | Port \\| of cards. |',
        '| `ISPB` | none | text | ISPB. |',
      ].join('\n'),
    )
  })
})

describe('a secret in a setting that has none', () => {
  test.each([
    ['a list of addresses', list(hostPort()), 'kafka://user:hunter2@h:9092'],
    ['an address to listen at', listenAddress(), 'user:hunter2@h'],
    ['a number', integer(1, 9), 'https://user:hunter2@h/'],
    ['a choice', oneOf('a', 'b'), 'password=hunter2'],
  ])('is not shown: %s', (_name, kind: Kind<unknown>, given) => {
    const group = defineSettings({ it: setting('SPI_IT', kind, { doc: '' }) })
    const { problems, effective } = loadSettings({ group }, { SPI_IT: given })
    expect(problems).toHaveLength(1)
    expect(effective.map(({ name }) => name)).toEqual(['SPI_IT'])
    expect(JSON.stringify({ problems, effective })).not.toContain('hunter2')
  })
})
