/**
 * Every secret of an installation, and secrets that callers put where they do not belong, planted in real use of a
 * running gateway and then looked for in whatever comes out of it. An output more is a line in `outputs`.
 */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { generateKeyPairSync, randomBytes } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { ServiceError } from '@grpc/grpc-js'
import { createKeyTableStore } from '#src/platform/security/index.ts'
import { program as whole } from '../../src/main.ts'
import {
  createCardNetwork,
  createTestVault,
  findDialect,
  findFraming,
  testTokens,
} from '../../src/simulators/card-network/index.ts'
import { createChain, createIssuer } from '../../src/simulators/chain/index.ts'
import { encodeRequest, rawClient, service, withKey } from '../spi/api/grpc/support.ts'
import { apiKeyFile } from '../support/api-key.ts'
import { authorizationBody } from '../support/cards-rig.ts'
import { type Collector, startCollector } from '../support/collector.ts'
import { createTestDatabase, type TestDatabase } from '../support/database.ts'
import { dumpOf } from '../support/database-dump.ts'
import { type HostileKafka, startHostileKafka } from '../support/hostile-kafka.ts'
import { examplesOf, type Schema, stringPlaces, withString } from '../support/json-schema.ts'
import { issueCertificate } from '../support/pki.ts'
import { anyVariant, type RunningProgram, runProgram, startProgram } from '../support/program.ts'
import { temporaryDirectory } from '../support/temporary.ts'
import { until } from '../support/until.ts'
import type { OpenApi } from '../support/whole-gateway.ts'
import { type Receiver, startReceiver } from '../webhooks/support.ts'

setDefaultTimeout(120_000)

/** A shorter one could be found by chance. */
const secretCharactersMin = 13
const random = (bytes = 24): string => randomBytes(bytes).toString('hex')
const pemKey = (): string =>
  generateKeyPairSync('rsa', {
    modulusLength: 2048,
    publicKeyEncoding: { format: 'pem', type: 'spki' },
    privateKeyEncoding: { format: 'pem', type: 'pkcs8' },
  }).privateKey

const [pan = ''] = [...testTokens.values()].map((bytes) => new TextDecoder().decode(bytes))
/** What belongs to the installation or to its callers, by what it is; more come from the answers that show them once. */
const secrets = new Map<string, string>([
  ['password of a node', random()],
  ['master key', randomBytes(32).toString('base64')],
  ['WEBHOOK_SECRET', random()],
  ['CARDGW_VAULT_TOKEN', random()],
  ['key of the collector', random()],
  ['password of Kafka', random()],
])
/** What callers write into members, paths and headers that are not made for it. Never a card number as stored text. */
const misplaced: Readonly<Record<string, string>> = {
  'an API key': `trl_live_${'A'.repeat(6)}${random(3)}_${random(21)}A${'0'.repeat(6)}`,
  'a webhook secret': `whsec_${randomBytes(24).toString('base64')}`,
  'a private key': pemKey(),
  'a DSN': `postgres://trilho:${random()}@db.example.com/trilho`,
  'a card number': '5555555555554444',
  'a security code': '{"cvv":"9137"}',
}

/** As it is, as JSON and URLs have it, as bytes of a column or a span would be shown; of a PEM a line of its inside. */
const shapesOf = (secret: string): readonly string[] => {
  const dsn = /:\/\/\w+:(\w+)@/.exec(secret)?.[1]
  const cvv = secret.includes('cvv') ? ['"cvv":"9137', '\\"cvv\\":\\"9137'] : undefined
  const plain = dsn ?? (secret.includes('-----') ? (secret.split('\n')[3] ?? '') : secret)
  const bytes = Buffer.from(plain)
  return (
    cvv ?? [
      plain,
      encodeURIComponent(plain),
      bytes.toString('hex'),
      bytes.toString('base64').replace(/=+$/, ''),
      bytes.toString('base64url'),
    ]
  )
}

const found = (name: string, text: string, of: Iterable<readonly [string, string]>): string[] =>
  [...of]
    .filter(([, secret]) => shapesOf(secret).some((shape) => text.includes(shape)))
    .map(([what]) => `${name}: ${what}`)

type Answer = { readonly status: number; readonly text: string; readonly headers: Headers }

let database: TestDatabase
let collector: Collector
let receiver: Receiver
let kafka: HostileKafka
let program: RunningProgram
let document: OpenApi
let env: Readonly<Record<string, string>>
let url = ''
let grpcTarget = ''
let key = ''
const closing: (() => unknown)[] = []
/** Without those that show a secret once, which the caller needs. */
const answers: string[] = []
/** The refusals among these answers. */
const refusals: string[] = []
const pages: string[] = []

const ask = async (
  method: string,
  path: string,
  body?: unknown,
  headers: Readonly<Record<string, string>> = {},
  showsSecret = false,
): Promise<Answer> => {
  const response = await fetch(url + path, {
    method,
    headers: {
      // A session says who asks by its cookie alone.
      ...(headers['Cookie'] === undefined && { Authorization: `Bearer ${key}` }),
      ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    redirect: 'manual',
  })
  const text = await response.text()
  const shown = `${method} ${response.status} ${JSON.stringify([...response.headers])} ${text}`
  if (!showsSecret) answers.push(shown)
  if (response.status >= 400) refusals.push(shown)
  return { status: response.status, text, headers: response.headers }
}

const made = async (method: string, path: string, body?: unknown, showsSecret = false) => {
  const { status, text } = await ask(method, path, body, {}, showsSecret)
  if (status >= 300) throw new Error(`${method} ${path}: ${status} ${text}`)
  return (text === '' ? {} : JSON.parse(text)) as Record<string, never>
}

beforeAll(async () => {
  ;[database, collector, kafka] = await Promise.all([
    ...([createTestDatabase(2), startCollector(), startHostileKafka()] as const),
  ])
  const { password } = new URL(database.dsn)
  // The server of the tests has one of its own; another that was given to them may have a short one, or none.
  if (password.length >= secretCharactersMin) secrets.set('password of the DSN', password)
  receiver = startReceiver()
  const network = createCardNetwork({
    dialect: findDialect('ascii')!,
    framing: findFraming('binary-2')!,
  })
  network.start()
  const vaultKey = secrets.get('CARDGW_VAULT_TOKEN') ?? ''
  const vault = createTestVault({ key: vaultKey })
  const chain = await createChain({ mining: 50 })
  const issuer = await createIssuer(chain)
  const node = new URL(chain.url)
  ;[node.username, node.password] = ['node', secrets.get('password of a node') ?? '']
  const file = await apiKeyFile('*')
  key = file.key
  secrets.set('API key', key)
  env = {
    HTTP_ADDR: '127.0.0.1:0',
    CARDGW_PORT: '0',
    API_KEYS_FILE: file.file,
    GRPC_ADDR: '127.0.0.1:0',
    DATABASE_DSN: database.dsn,
    ISPB: '12345678',
    RSFN_KEY_SOURCE: 'store',
    OTEL_EXPORTER_OTLP_HEADERS: `x-api-key=${secrets.get('key of the collector')}`,
    LOG_LEVEL: 'debug',
    CARDGW_LOG_LEVEL: 'debug',
    METRICS_ENABLED: 'true',
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    PIX_LOCATION_HOST: 'pix.example.com',
    CARDGW_NETA_HOST: '127.0.0.1',
    CARDGW_NETA_PORT: String(network.port()),
    CARDGW_VAULT_URL: vault.url,
    CARDGW_VAULT_TOKEN: vaultKey,
    CARDGW_NETA_POOL_SIZE: '1',
    DREX_TESTNET_RPC_URLS: node.href,
    DREX_TESTNET_TOKEN: issuer.token,
    DREX_TESTNET_BLOCK_TIME_MS: '50',
    WEBHOOK_ALLOWED_TARGETS: '127.0.0.1',
    WEBHOOK_SECRET: secrets.get('WEBHOOK_SECRET') ?? '',
    TRILHO_MASTER_KEY: secrets.get('master key') ?? '',
  }
  program = startProgram(anyVariant, ['serve'], { env })
  closing.push(
    () => network.stop(),
    () => vault.stop(),
    () => chain.stop(),
    () => receiver.stop(),
    () => collector.stop(),
    () => kafka.close(),
    () => database.close(),
  )
  const line = await program.line((text) => text.includes('"msg":"listening"'))
  const listening = JSON.parse(line) as { readonly http_url: string; readonly grpc_url: string }
  url = listening.http_url
  grpcTarget = new URL(listening.grpc_url).host
  document = JSON.parse((await ask('GET', '/openapi.json')).text) as OpenApi
})
afterAll(async () => {
  program.signal('SIGKILL')
  await program.end()
  for (const close of closing) await close()
})

/** Each feature once, with the secret that it gives, takes or keeps. */
const useAll = async (): Promise<void> => {
  const hook = await made('POST', '/v1/webhooks', { url: receiver.url, events: ['*'] }, true)
  const rotated = await made('POST', `/v1/webhooks/${hook['id']}/rotate`, {}, true)
  secrets.set('secret of an endpoint', rotated['secret'] ?? '')
  const { imported, content } = await importKey()
  secrets.set('private key', content)
  const shown = `${imported}/export?private_key=true`
  expect((await ask('GET', shown, undefined, {}, true)).text).toContain('PRIVATE KEY')
  await ask('GET', imported)
  await ask('POST', '/v1/transactions/authorize', authorizationBody('tok_visa_approved'))
  secrets.set('card number', pan)
  await made('POST', '/v1/wallets', { type: 'managed', label: 'planted' })
  await useTokens()
  await useConsole()
  await made('POST', `/v1/webhooks/${hook['id']}/test`)
  await until(() => receiver.received.length > 0)
}

const importKey = async () => {
  const authority = issueCertificate('AC Teste', { authority: true })
  const { cert, key: content } = issueCertificate('12345678 QRC', { issuer: authority })
  const body = { ispb: '12345678', type: 'QRC', format: 'pem', content: content + cert }
  const { version } = await made('POST', '/v1/certificates', body)
  return { imported: `/v1/certificates/12345678/QRC/${version}`, content }
}

/** A key of the database signs in a client of the API Pix. */
const useTokens = async (): Promise<void> => {
  const store = createKeyTableStore(database.sql, { id: 'cli:test', requestId: undefined })
  const client = await store.create({
    name: 'client',
    account: 'default',
    environment: 'test',
    grants: ['*'],
    expiresAt: undefined,
  })
  secrets.set('API key of the database', client.key)
  const basic = Buffer.from(`${client.id}:${client.key}`).toString('base64')
  const grant = { grant_type: 'client_credentials' }
  const token = await ask('POST', '/oauth/token', grant, { Authorization: `Basic ${basic}` }, true)
  const { access_token: access = '' } = JSON.parse(token.text) as { readonly access_token?: string }
  secrets.set('access token', access)
  const list = '/pix/v2/cob?inicio=2026-01-01T00:00:00Z&fim=2026-12-31T00:00:00Z'
  const { status } = await ask('GET', list, undefined, { Authorization: `Bearer ${access}` })
  expect(status).toBe(200)
}

const useConsole = async (): Promise<void> => {
  const own = { 'X-Trilho-Console': 'user', 'Sec-Fetch-Site': 'same-origin' }
  const session = await ask('POST', '/console/session', { key }, own, true)
  const cookie = (session.headers.get('set-cookie') ?? '').split(';')[0] ?? ''
  secrets.set('session of the console', cookie.split('=')[1] ?? '')
  pages.push(session.text)
  const paths = ['/console', '/console/payments', '/console/session', '/docs', '/health']
  const asked = ['/v1/audit', '/v1/webhooks', '/v1/certificates', '/v1/wallets']
  for (const path of [...paths, ...asked.map((one) => `/console/api${one}`)]) {
    const { status, text } = await ask('GET', path, undefined, { ...own, Cookie: cookie })
    if (status !== 200) throw new Error(`${path}: ${status} ${text}`)
    pages.push(text)
  }
}

/** Every operation as the document shows it, and with a misplaced secret in each string that it takes. */
const misplace = async (): Promise<number> => {
  const planted = Object.values(misplaced)
  const requests: (() => Promise<unknown>)[] = []
  const next = () => planted[requests.length % planted.length] ?? ''
  for (const [template, operations] of Object.entries(document.paths)) {
    for (const [verb, { parameters = [], requestBody }] of Object.entries(operations)) {
      const method = verb.toUpperCase()
      const bodySchema = requestBody?.content['application/json']?.schema as Schema | undefined
      const path = parameters.reduce(
        (at, { name, schema }) =>
          at.replace(`{${name}}`, encodeURIComponent(String(examplesOf(document, schema)[0]))),
        template,
      )
      const body = bodySchema && examplesOf(document, bodySchema)[0]
      const send = (at: string, sent: unknown, headers = {}) =>
        requests.push(() => ask(method, at, sent, headers))
      // Ends what the other requests need.
      if (method !== 'DELETE') send(path, body)
      for (const { name, in: place } of parameters) {
        const text = encodeURIComponent(next())
        if (place === 'path')
          send(template.replace(`{${name}}`, text).replace(/\{\w+\}/g, 'x'), body)
        if (place === 'query') send(`${path}?${name}=${text}`, body)
        if (place === 'header') send(path, body, { [name]: next().replaceAll('\n', ' ') })
      }
      for (const { pointer } of stringPlaces(body)) send(path, withString(body, pointer, next()))
    }
  }
  const total = requests.length
  const worker = async (): Promise<void> => {
    for (let one = requests.pop(); one !== undefined; one = requests.pop()) await one()
  }
  await Promise.all(Array.from({ length: 8 }, worker))
  const hidden = { 'X-Request-Id': misplaced['an API key'] ?? '', 'User-Agent': next() }
  await ask('GET', `/v1/nothing?key=${misplaced['an API key']}`, undefined, {
    ...hidden,
    'User-Agent': misplaced['a webhook secret'] ?? '',
    Authorization: `Bearer ${misplaced['an API key']}`,
  })
  return total
}

/** Over gRPC the same, where its calls have texts; what they end with is an answer. */
const misplaceInCalls = async (): Promise<void> => {
  const client = rawClient(grpcTarget)
  const ended = (error: ServiceError) =>
    `${error.code} ${error.details} ${JSON.stringify(error.metadata.toJSON())}`
  for (const planted of Object.values(misplaced)) {
    const line = planted.replaceAll('\n', ' ')
    const requests = [
      { source_format: planted, target_format: 'json', message: Buffer.from('<x/>') },
      { source_format: 'xml', target_format: planted, message: Buffer.from('<x/>') },
      { source_format: 'json', target_format: 'xml', message: Buffer.from(`{"${line}":1}`) },
      { source_format: 'xml', target_format: 'json', message: Buffer.from(`<Document ${line}/>`) },
    ]
    const calls = [
      ...requests.map((one) => [`${service}/Transform`, encodeRequest(one), withKey(key)] as const),
      [`${service}/Transform`, Buffer.from(planted), withKey(key)] as const,
      [`${service}/ListTransformations`, Buffer.alloc(0), withKey(line)] as const,
      [`/${encodeURIComponent(planted)}/X`, Buffer.alloc(0), withKey(key)] as const,
    ]
    for (const [path, bytes, metadata] of calls) {
      const shown = await client
        .unary(path, bytes, metadata)
        .then((answer) => answer.bytes.toString(), ended)
      refusals.push(shown)
      answers.push(shown)
    }
  }
  client.close()
}

/** Goes through the broker, and waits for it. */
const kafkasPayment = {
  message_type: 'PACS008',
  params: {
    local_instrument: 'MANU',
    service_level: 'PAGPRI',
    transactions: [
      {
        amount: 100,
        purpose: 'IPAY',
        debtor: {
          ispb: '12345678',
          name: 'Ana',
          document: '12345678909',
          account_num: '1',
          account_type: 'CACC',
        },
        creditor: {
          ispb: '87654321',
          document: '98765432100',
          account_num: '2',
          account_type: 'TRAN',
        },
      },
    ],
  },
}

type Kafkas = { readonly log: string; readonly answers: string }

/** A gateway over a Kafka that refuses it, and says with which password. */
const useKafka = async (more: Readonly<Record<string, string>>): Promise<Kafkas> => {
  const other = startProgram(anyVariant, ['serve'], { env: { ...env, ...more } })
  const line = await other.line((text) => text.includes('"msg":"listening"'))
  const { http_url: base } = JSON.parse(line) as { readonly http_url: string }
  const headers = { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' }
  await until(() => kafka.signIns() > 2)
  await until(async () => (await fetch(`${base}/ready`)).status === 200)
  const said: string[] = []
  const post = (path: string, body: object) =>
    fetch(base + path, { method: 'POST', headers, body: JSON.stringify(body) })
  const asked = [
    post('/v1/spi/send', kafkasPayment),
    post('/v1/webhooks', { url: receiver.url, events: ['*'] }),
    ...['/health', '/metrics', '/v1/messages', '/v1/ops/dead-letters', '/v1/audit'].map((path) =>
      fetch(base + path, { headers }),
    ),
  ]
  for (const answer of await Promise.all(asked)) {
    said.push(`${answer.status} ${JSON.stringify([...answer.headers])} ${await answer.text()}`)
  }
  other.signal('SIGTERM')
  const { out, err } = await other.end()
  expect(said.filter((one) => !/^20[0-2] /.test(one))).toEqual([])
  expect(out).toContain('SASL authentication failed')
  return { log: out + err, answers: said.join('\n') }
}

/** What support is sent. */
const bundleOf = async (log: string, more: Readonly<Record<string, string>>): Promise<string> => {
  const directory = temporaryDirectory()
  const [file, logFile] = [join(directory, 'bundle.tar.gz'), join(directory, 'log')]
  writeFileSync(logFile, log)
  await printed(['support-bundle', '--out', file, '--log', logFile], more)
  const files = await new Bun.Archive(await Bun.file(file).bytes()).files()
  return (await Promise.all([...files.values()].map((one) => one.text()))).join('\n')
}

/** The output of a command with the settings of the gateway. */
const printed = async (argv: string[], more = {}): Promise<string> => {
  const { out, err } = await runProgram(anyVariant, argv, { env: { ...env, ...more } })
  return out + err
}

type Output = readonly [name: string, texts: () => string | Promise<string>]

test('no secret comes out, wherever it is and wherever a caller puts it', async () => {
  await useAll()
  expect(await misplace()).toBeGreaterThan(400)
  await misplaceInCalls()
  const metrics = (await ask('GET', '/metrics')).text
  const kafkas = {
    BROKER_ADDRESSES: kafka.address,
    TRILHO_BROKER_SASL_MECHANISM: 'PLAIN',
    TRILHO_BROKER_SASL_USERNAME: 'trilho',
    TRILHO_BROKER_SASL_PASSWORD: secrets.get('password of Kafka') ?? '',
  }
  const overKafka = await useKafka(kafkas)
  const [shownSettings, bundle, ...diagnoses] = await Promise.all([
    printed(['config'], kafkas),
    bundleOf(overKafka.log, kafkas),
    printed(['doctor'], kafkas),
    printed(['doctor', '--json']),
    // A password that is not taken.
    printed(['doctor'], {
      DATABASE_DSN: database.dsn.replace(/:[^:@/]+@/, `:${secrets.get('password of Kafka')}@`),
    }),
  ])
  program.signal('SIGTERM')
  const { out, err } = await program.end()
  const dump = await dumpOf(database)
  const queues = [...dump].filter(([name]) => /queue|messages|outbox|dead/.test(name))
  /** No secret of any kind may be in these outputs. */
  const outputs: readonly Output[] = [
    ['log', () => out],
    ['standard error', () => err],
    ['traces', collector.text],
    ['metrics', () => metrics],
    ['audit', () => dump.get('public.audit_log') ?? ''],
    ['log over Kafka', () => overKafka.log],
    ['answers over Kafka', () => overKafka.answers],
    ['settings', () => shownSettings],
    ['support bundle', () => bundle],
    ['doctor', () => diagnoses.join('\n')],
    ['refusals', () => refusals.join('\n')],
  ]
  /** These hold what callers wrote, too: a description is theirs. */
  const outputsWithTexts: readonly Output[] = [
    ['answers', () => answers.join('\n')],
    ['console', () => pages.join('\n')],
    [
      'webhooks',
      () => receiver.received.map((one) => JSON.stringify([...one.headers]) + one.body).join('\n'),
    ],
    ['queues', () => queues.map(([, text]) => text).join('\n')],
    ...[...dump].map(([name, text]): Output => [`table ${name}`, () => text]),
  ]
  expect([...secrets].filter(([, secret]) => secret.length < secretCharactersMin)).toEqual([])
  const leaks: string[] = []
  for (const [name, texts] of [...outputs, ...outputsWithTexts]) {
    const text = await texts()
    if (text === '' && !/^(?:table|standard error|queues)/.test(name))
      leaks.push(`${name}: nothing was looked at`)
    leaks.push(...found(name, text, secrets))
  }
  for (const [name, texts] of outputs) {
    leaks.push(...found(name, await texts(), Object.entries(misplaced)))
  }
  expect(leaks).toEqual([])
})

test('the search finds a secret in each of its shapes', () => {
  for (const [what, secret] of [...secrets, ...Object.entries(misplaced)]) {
    for (const shape of shapesOf(secret))
      expect(found('x', `a${shape}b`, [[what, secret]])).toHaveLength(1)
  }
})

/** Right or wrong, in the setting itself or where the path of its file belongs: a wrong one is told as a problem. */
test('no setting that is secret is shown, whatever is in it', () => {
  const all = whole.settingGroups.flatMap(({ settings }) => Object.values(settings))
  const hidden = all.filter(({ kind }) => kind.mask('planted') === '***')
  expect(hidden.length).toBeGreaterThan(20)
  const planted = random()
  const shapes = [
    planted,
    `${planted}=x`,
    `x=${planted}`,
    `https://trilho:${planted}@example.com/x`,
    `-----BEGIN PRIVATE KEY-----\n${planted}\n-----END PRIVATE KEY-----`,
  ]
  for (const shape of shapes) {
    for (const suffix of ['', '_FILE']) {
      const { problems, warnings, effective } = whole.load(
        Object.fromEntries(hidden.map(({ env }) => [env + suffix, shape])),
      )
      expect(JSON.stringify([problems, warnings, effective])).not.toContain(planted)
      expect(problems.length).toBeGreaterThan(0)
    }
  }
})
