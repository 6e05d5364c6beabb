import { expect, test } from 'bun:test'
import { readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { deadLetterHeaders } from '#src/platform/broker/index.ts'
import { defineSettings, setting } from '#src/platform/config/index.ts'
import { databaseUrl, secret, secretUrl } from '#src/platform/config/kinds.ts'
import { findSensitive } from '#src/platform/security/index.ts'
import { createRedactor, secretTexts } from '../../src/cli/support-bundle/redact.ts'
import { commandHere } from '../support/command-here.ts'
import { createTestDatabase } from '../support/database.ts'
import { temporaryDirectory } from '../support/temporary.ts'

const card = '4111111111111111'
const cpf = '529.982.247-25'
const masterKey = Buffer.from(Uint8Array.from({ length: 32 }, (_, at) => at * 3)).toString('base64')
const collectorKey = 'collector-key-of-ours'
const vaultToken = 'a token of the vault'
const apiKey = `trl_live_0123456789ab_${'x'.repeat(49)}`
const privateKey = '-----BEGIN PRIVATE KEY-----\nMIGHAgEAMBMGByqGSM49\n-----END PRIVATE KEY-----'

const bundle = async (
  env: Readonly<Record<string, string>>,
  more: readonly string[] = [],
  input = '',
  file = join(temporaryDirectory(), 'bundle.tar.gz'),
) => {
  const { code } = await commandHere(['support-bundle', '--out', file, ...more], env, input)
  const archive = code === 0 ? await new Bun.Archive(await Bun.file(file).bytes()).files() : []
  const files: Record<string, string> = {}
  for (const [name, content] of archive) files[name] = await content.text()
  return { code, file, files }
}

/** What answers where the gateway would, and puts into its answers what must not get out. */
const hostileProcess = () =>
  Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch: ({ url }) =>
      url.endsWith('/metrics')
        ? new Response(`# HELP x Of ${vaultToken}.\nx{of="${card}"} 4111111111111111\n`)
        : Response.json({ status: 'ok', checks: { note: `${cpf} ${collectorKey}` } }),
  })

test('a secret is found however JSON writes it, and digits of one leave the rest whole', () => {
  const password = 'ab"cd\\ef12'
  const redactor = createRedactor([password, '300000'])
  const told = { msg: `with ${password}`, [password]: [password], waited_ms: 300_000, at: 17 }
  const expected = { msg: 'with ***', '***': ['***'], waited_ms: '***', at: 17 }
  expect(JSON.parse(redactor.json(told))).toEqual(expected)
  expect(JSON.parse(redactor.log(JSON.stringify(told)))).toEqual(expected)
  // A line of JSON within a text, as one program logs what another wrote.
  const within = JSON.parse(redactor.log(JSON.stringify({ msg: JSON.stringify(told) }))) as {
    msg: string
  }
  expect(within.msg).not.toContain('ef12')
  expect(redactor.metrics('x{of="ab\\"cd\\\\ef12"} 1')).toBe('x{of="***"} 1')
})

test('of an address only its secrets are hidden, of a header its value however it is written', async () => {
  const one = {
    dsn: setting('DATABASE_DSN', databaseUrl(), { doc: 'x' }),
    headers: setting('HEADERS', secret(), { doc: 'x' }),
  }
  const texts = await secretTexts([{ settings: one }], {
    DATABASE_DSN: 'postgres://owner:secret99@db1,db2/x?application_name=trilho',
    HEADERS: 'tenant=acme-bank,authorization=Basic%20dXNlcjpzZWNyZXQ%3D',
  })
  expect(texts).not.toContain('trilho')
  expect(texts).toContain('secret99')
  expect(texts).toContain('acme-bank')
  const { json } = createRedactor(texts)
  const told = { fix: 'trilho migrate', sent: 'authorization: Basic dXNlcjpzZWNyZXQ=' }
  expect(JSON.parse(json(told))).toEqual({ fix: 'trilho migrate', sent: 'authorization: ***' })
})

test('what a setting keeps secret is known, also where its value does not parse', async () => {
  const databases = defineSettings({
    dsn: setting('DATABASE_DSN', databaseUrl(), { doc: 'x' }),
    hook: setting('HOOK_URL', secretUrl('https'), { doc: 'x' }),
  })
  for (const [password, form] of [
    ['p@ss,w0rd', 'postgres://trilho:p%40ss%2Cw0rd@db1:5432,db2:5432/trilho'],
    ['p@ss,w0rd', 'postgres://db1,db2/trilho?user=a&password=p%40ss%2Cw0rd&sslmode=require'],
    ['p%40ssw0rd', 'postgres://db/trilho?password=p%40ssw0rd&sslmode=require'],
    ['hunter+2', 'postgres://db/trilho?sslpassword=hunter%2B2#x'],
    ['p@ssw0rd', 'postgres://trilho:p@ssw0rd@db:5432/trilho'],
    ['s3cr/etAbc==', 'postgres://trilho:s3cr/etAbc==@db:5432/trilho'],
    ['trilho:secret99@db/x', 'trilho:secret99@db/x'],
  ] as const) {
    const texts = await secretTexts([{ settings: databases }], { DATABASE_DSN: form })
    expect(createRedactor(texts).json({ note: `with ${password}` })).not.toContain(password)
  }
  const hook = 'https://chat.example/services/T012/token-of-a-path?channel=private-one'
  const texts = await secretTexts([{ settings: databases }], {
    DATABASE_DSN:
      'postgres://a:hidden-one@db/trilho?sslmode=require&application_name=trilho-of-ours',
    HOOK_URL: hook,
  })
  const told = createRedactor(texts).json(
    'trilho-of-ours requires /services/T012/token-of-a-path private-one',
  )
  expect(told).toBe('"trilho-of-ours requires /*** ***"')
})

test('holds what helps, and nothing that the scrubber finds or the settings keep secret', async () => {
  const { dsn, sql, close } = await createTestDatabase()
  await sql`
    insert into broker_dead_letters (headers, value)
    values (${{ [deadLetterHeaders.topic]: 'spi.outbound', [deadLetterHeaders.errorCode]: `refused ${card}` } as never}, ${Buffer.from(card)})`
  const server = hostileProcess()
  const tokenFile = join(temporaryDirectory(), 'token')
  writeFileSync(tokenFile, `${vaultToken}\n`)
  const log = [
    JSON.stringify({ level: 'info', msg: `paid with ${card}`, pan: card, note: cpf }),
    `Nov 22 10:00:00 host trilho[7]: ${JSON.stringify({ msg: `${apiKey} ${dsn} ${collectorKey}` })}`,
    JSON.stringify({ err: { stack: privateKey } }),
    ...privateKey.split('\n'),
    `plain text with ${card}`,
  ].join('\n')
  const env = {
    HTTP_ADDR: `127.0.0.1:${server.port}`,
    CARDGW_PORT: String(server.port),
    DATABASE_DSN: dsn,
    TRILHO_MASTER_KEY: masterKey,
    OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:1',
    OTEL_EXPORTER_OTLP_HEADERS: `x-api-key=${collectorKey}`,
    CARDGW_VAULT_URL: 'http://127.0.0.1:1',
    CARDGW_VAULT_TOKEN_FILE: tokenFile,
  }
  const { code, files, file } = await bundle(env, ['--log', '-'], log)
  await server.stop(true)
  await close()
  expect(code).toBe(0)
  expect(statSync(file).mode & 0o777).toBe(0o600)
  expect(Object.keys(files).sort()).toEqual(
    [
      ...['README.txt', 'system.json', 'settings.json', 'doctor.json', 'database.json'],
      ...['book.json', 'gateway.json', 'metrics.txt', 'log.jsonl'],
    ].sort(),
  )
  const password = new URL(dsn).password
  const secrets = [masterKey, collectorKey, vaultToken, password, 'MIGHAgEAMBMGByqGSM49', apiKey]
  for (const [name, text] of Object.entries(files)) {
    for (const secret of secrets) expect([name, text.includes(secret)]).toEqual([name, false])
    // A figure of a metric is ours, whatever its digits look like.
    const lines = text
      .split('\n')
      .map((line) => (name === 'metrics.txt' ? line.replace(/ \S+$/, '') : line))
    for (const line of lines)
      expect([name, line, findSensitive(line)]).toEqual([name, line, undefined])
  }
  const settings = JSON.parse(files['settings.json'] ?? '') as {
    settings: { name: string; value?: string }[]
  }
  expect(settings.settings.find(({ name }) => name === 'TRILHO_MASTER_KEY')?.value).toBe('***')
  const database = JSON.parse(files['database.json'] ?? '')
  expect(database.missing_migrations).toEqual([])
  expect(database.tables.map(({ table }: { table: string }) => table)).toContain('audit_log')
  expect(database.dead_letters).toMatchObject([{ topic: 'spi.outbound', messages: 1 }])
  for (const answer of Object.values(database)) expect(answer).not.toHaveProperty('error')
  expect(JSON.parse(files['book.json'] ?? '')).toContainEqual(
    expect.objectContaining({ what: 'dead letters', open: 1 }),
  )
  expect(JSON.parse(files['gateway.json'] ?? '').health.status).toBe('ok')
  expect(files['metrics.txt']).toEndWith(' 4111111111111111\n')
  const logged = (files['log.jsonl'] ?? '').trimEnd().split('\n')
  expect(logged).toHaveLength(4)
  expect(logged.at(-1)).toBe('{"left_out":4,"because":"no JSON"}')
})

test('says what cannot be had, and is made all the same', async () => {
  const nowhere = { HTTP_ADDR: '127.0.0.1:1', CARDGW_PORT: '1' }
  const away = await bundle({
    ...nowhere,
    DATABASE_DSN: 'postgres://a:hidden-password@127.0.0.1:1/b',
  })
  expect(away.code).toBe(0)
  expect(away.files['database.json']).toContain('"error"')
  expect(away.files['gateway.json']).toContain('"error"')
  expect(away.files['metrics.txt']).toBeUndefined()
  expect(Object.values(away.files).join()).not.toContain('hidden-password')
  const wrong = await bundle({ LOG_LEVEL: 'loud' })
  expect(Object.keys(wrong.files).sort()).toEqual(
    ['README.txt', 'doctor.json', 'settings.json', 'system.json'].sort(),
  )
  expect(wrong.files['settings.json']).toContain('LOG_LEVEL')
  expect((await bundle(nowhere, ['--log', '/nowhere'])).code).toBe(1)
})

test('is written for its owner alone, in place of a file and through nothing else', async () => {
  const nowhere = { HTTP_ADDR: '127.0.0.1:1', CARDGW_PORT: '1' }
  const directory = temporaryDirectory()
  const [file, link] = [join(directory, 'bundle.tar.gz'), join(directory, 'link.tar.gz')]
  writeFileSync(file, 'an older one', { mode: 0o644 })
  symlinkSync(file, link)
  const through = await bundle(nowhere, [], '', link)
  expect([through.code, readFileSync(file, 'utf8')]).toEqual([1, 'an older one'])
  const { code, files } = await bundle(nowhere, [], '', file)
  expect([code, Object.keys(files).includes('README.txt')]).toEqual([0, true])
  expect(statSync(file).mode & 0o777).toBe(0o600)
  expect(readdirSync(directory).sort()).toEqual(['bundle.tar.gz', 'link.tar.gz'])
})
