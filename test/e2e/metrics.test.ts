import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { status } from '@grpc/grpc-js'
import { createPostgresBroker } from '#src/platform/broker/index.ts'
import {
  createCardNetwork,
  createTestVault,
  findDialect,
  findFraming,
  testVaultKey,
} from '../../src/simulators/card-network/index.ts'
import { createCentralBank } from '../../src/simulators/central-bank/index.ts'
import { encodeRequest, failure, rawClient, service, withKey } from '../spi/api/grpc/support.ts'
import { apiKeyFile } from '../support/api-key.ts'
import { authorizationBody } from '../support/cards-rig.ts'
import { createTestDatabase, quietLogger } from '../support/database.ts'
import { pacs008 } from '../support/messages.ts'
import { transfer } from '../support/participant.ts'
import { issueCertificate } from '../support/pki.ts'
import { anyVariant, type RunningProgram, startProgram } from '../support/program.ts'
import { temporaryDirectory } from '../support/temporary.ts'
import { until } from '../support/until.ts'
import { startReceiver } from '../webhooks/support.ts'

setDefaultTimeout(60_000)

const waitMs = 40_000
const ispb = '12345678'
const dayMs = 86_400_000

/** Every sample of a scrape: `name{label="value",…}` with its labels in order, and its value. */
type Samples = ReadonlyMap<string, number>

const sampleName = (name: string, labels: string): string =>
  labels === ''
    ? name
    : `${name}{${labels
        .split(/,(?=\w+=")/)
        .sort()
        .join(',')}}`

const read = (text: string): Samples =>
  new Map(
    [...text.matchAll(/^(\w+)(?:\{(.*)\})? (\S+)$/gm)].map(([, name = '', labels = '', value]) => [
      sampleName(name, labels),
      Number(value),
    ]),
  )

const of = (name: string, labels: Readonly<Record<string, string>> = {}): string =>
  sampleName(
    name,
    Object.entries(labels)
      .map(([label, value]) => `${label}="${value}"`)
      .join(','),
  )

const database = await createTestDatabase(3)
const bank = await createCentralBank({ longPollMs: 200 })
const receiver = startReceiver()
const failing = startReceiver(() => new Response('no', { status: 500 }))
const vault = createTestVault({ key: testVaultKey })
const dialect = findDialect('ascii')
const framing = findFraming('binary-2')
if (dialect === undefined || framing === undefined) throw new Error('none')
const network = createCardNetwork({ dialect, framing })
network.start()

/** Two that can be used, for forty days and a year, and one that is over. */
const certificatesFolder = (): string => {
  const folder = temporaryDirectory()
  const put = (name: string, days: number): void => {
    const notAfter = new Date(Date.now() + days * dayMs + dayMs / 2)
    const notBefore = new Date(Date.now() - 400 * dayMs)
    const { cert, key } = issueCertificate(name, { notAfter, notBefore })
    mkdirSync(join(folder, name))
    writeFileSync(join(folder, name, 'tls.crt'), cert)
    writeFileSync(join(folder, name, 'tls.key'), key)
  }
  put(`${ispb}.PIA.1`, 40)
  put(`${ispb}.PIA.2`, 365)
  put(`${ispb}.PIC.1`, -3)
  return folder
}

const { file: keyFile, key } = await apiKeyFile('spi:*', 'webhooks:*', 'cards:*', 'messages:read')
const signer = issueCertificate(ispb)

let program: RunningProgram
let url = ''
let grpcTarget = ''

beforeAll(async () => {
  program = startProgram(anyVariant, ['serve'], {
    env: {
      HTTP_ADDR: '127.0.0.1:0',
      CARDGW_PORT: '0',
      API_KEYS_FILE: keyFile,
      DATABASE_DSN: database.dsn,
      CARDGW_DATABASE_URL: database.dsn,
      ISPB: ispb,
      SPI_ROLES: 'INBOUND_PULL,WORKER,OUTBOUND_SEND',
      SPI_PRIMARY_URL: bank.url,
      SPI_AUTO_ACCEPT: 'true',
      SPI_SIGN_ENABLED: 'true',
      SPI_SIGN_CERT_BASE64: btoa(signer.cert),
      SPI_SIGN_KEY_BASE64: btoa(signer.key),
      SPI_SIGN_PROVIDER: 'node',
      WEBHOOK_SECRET: 'a common secret of this test',
      WEBHOOK_ALLOWED_TARGETS: '127.0.0.0/8',
      TRILHO_CERTS_DIR: certificatesFolder(),
      CARDGW_NETA_HOST: '127.0.0.1',
      CARDGW_NETA_PORT: String(network.port()),
      CARDGW_NETA_TIMEOUT: '4',
      CARDGW_NETA_POOL_SIZE: '2',
      CARDGW_NETB_HOST: '127.0.0.1',
      CARDGW_NETB_PORT: '1',
      CARDGW_VAULT_URL: vault.url,
      CARDGW_VAULT_TOKEN: testVaultKey,
      CARDGW_LOG_LEVEL: 'error',
    },
  })
  const line = JSON.parse(await program.line((text) => text.includes('"msg":"listening"')))
  url = line.http_url
  grpcTarget = new URL(line.grpc_url).host
})

afterAll(async () => {
  program.signal('SIGKILL')
  await program.end()
  await Promise.all([bank.stop(), receiver.stop(), failing.stop(), vault.stop()])
  network.stop()
  await database.close()
})

const call = (method: string, path: string, body?: unknown): Promise<Response> =>
  fetch(`${url}${path}`, {
    method,
    headers: {
      Authorization: `Bearer ${key}`,
      ...(body === undefined
        ? {}
        : { 'Content-Type': typeof body === 'string' ? 'application/xml' : 'application/json' }),
    },
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  })

const scrape = async (): Promise<Samples> => read(await (await fetch(`${url}/metrics`)).text())

/** Scrapes until every sample has its number; then says which have not. */
const expectSamples = async (wanted: Readonly<Record<string, number>>): Promise<Samples> => {
  const deadline = performance.now() + waitMs
  for (;;) {
    const samples = await scrape()
    const found = Object.fromEntries(Object.keys(wanted).map((name) => [name, samples.get(name)]))
    if (Bun.deepEquals(found, wanted)) return samples
    if (performance.now() > deadline) {
      expect(found).toEqual(wanted)
      throw new Error('never right')
    }
    await Bun.sleep(50)
  }
}

const statuses = async (answers: readonly Promise<Response>[]): Promise<readonly number[]> =>
  (await Promise.all(answers)).map((answer) => answer.status)

const times = <T>(count: number, make: (index: number) => T): readonly T[] =>
  Array.from({ length: count }, (_, index) => make(index))

const send = (cents: number): Promise<Response> =>
  call('POST', '/v1/spi/send', {
    message_type: 'PACS008',
    params: { local_instrument: 'MANU', transactions: [transfer(ispb, '99999A04', cents)] },
  })

test('HTTP, transformations and gRPC are counted and timed by pattern, never by what a caller wrote', async () => {
  const post = (body: string) => call('POST', '/v1/transform/pacs008', body)
  expect(await statuses(times(4, () => post(pacs008())))).toEqual([200, 200, 200, 200])
  expect(await statuses(times(2, () => post('<a>')))).toEqual([400, 400])
  expect(await statuses(times(30, (index) => call('GET', `/nowhere/${index}`)))).toEqual(
    times(30, () => 404),
  )
  expect(await statuses(times(3, (index) => call('GET', `/v1/messages/none-${index}`)))).toEqual(
    times(3, () => 404),
  )
  const client = rawClient(grpcTarget)
  const transform = (message: string) =>
    client.unary(
      `${service}/Transform`,
      encodeRequest({ message: Buffer.from(message) }),
      withKey(key),
    )
  await Promise.all(times(3, () => transform(pacs008())))
  await transform('<a>')
  const unknown = client.unary(`${service}/Brew`, Buffer.alloc(0), withKey(key))
  expect((await failure(unknown)).code).toBe(status.UNIMPLEMENTED)
  client.close()

  const path = '/v1/transform/pacs008'
  const transformed = { source_type: 'pacs.008', target_format: 'pix_payment' }
  const unnamed = { source_type: 'other', target_format: 'other' }
  const grpc = { method: 'spigw.v1.TransformationService/Transform' }
  const samples = await expectSamples({
    [of('http_requests_total', { method: 'POST', path, status: '200' })]: 4,
    [of('http_requests_total', { method: 'POST', path, status: '400' })]: 2,
    [of('http_requests_total', { method: 'GET', path: 'unmatched', status: '404' })]: 30,
    [of('http_requests_total', { method: 'GET', path: '/v1/messages/{id}', status: '404' })]: 3,
    [of('http_request_duration_seconds_count', { method: 'POST', path, status: '200' })]: 4,
    [of('http_request_duration_seconds_bucket', {
      method: 'POST',
      path,
      status: '200',
      le: '+Inf',
    })]: 4,
    [of('spigw_transformations_total', { ...transformed, status: 'success' })]: 7,
    [of('spigw_transformations_total', { ...transformed, status: 'parse_error' })]: 2,
    [of('spigw_transformations_total', { ...unnamed, status: 'parse_error' })]: 1,
    [of('trilho_grpc_requests_total', { ...grpc, code: 'OK' })]: 4,
    [of('trilho_grpc_request_duration_seconds_count', grpc)]: 4,
    [of('trilho_grpc_requests_total', { method: 'unmatched', code: 'UNIMPLEMENTED' })]: 1,
  })
  const sum = of('http_request_duration_seconds_sum', { method: 'POST', path, status: '200' })
  expect(samples.get(sum)).toBeGreaterThan(0)
})

test('certificates, database, process and build are told', async () => {
  const of1 = { ispb, type: 'PIA', version: '1' }
  const of2 = { ispb, type: 'PIA', version: '2' }
  const over = { ispb, type: 'PIC', version: '1' }
  const samples = await expectSamples({
    spigw_cert_total: 3,
    [of('spigw_cert_days_until_expiry', of1)]: 40,
    [of('spigw_cert_days_until_expiry', of2)]: 365,
    [of('spigw_cert_days_until_expiry', over)]: -3,
    [of('spigw_cert_expired', of1)]: 0,
    [of('spigw_cert_expired', of2)]: 0,
    [of('spigw_cert_expired', over)]: 1,
  })
  const [row] = await database.sql<{ count: number }[]>`
    select count(*)::int as count from pg_stat_activity
    where datname = current_database() and application_name like 'trilho%'
      and pid <> pg_backend_pid()`
  // Other connections come and go: the gauge is near what the server itself sees.
  expect(samples.get('spigw_db_connections_active')).toBeGreaterThan(0)
  expect(samples.get('spigw_db_connections_active')).toBeLessThanOrEqual((row?.count ?? 0) + 5)
  const build = [...samples.keys()].filter((name) => name.startsWith('trilho_build_info'))
  expect(build).toEqual([expect.stringContaining(`bun="${Bun.version}"`)])
  for (const name of ['nodejs_eventloop_lag_seconds', 'nodejs_eventloop_lag_p99_seconds']) {
    expect(samples.get(name)).toBeGreaterThanOrEqual(0)
  }
  expect(samples.get('process_cpu_seconds_total')).toBeGreaterThan(0)
  expect(samples.get('process_resident_memory_bytes')).toBeGreaterThan(10_000_000)
})

test('payments both ways, their webhooks, signatures, batches and link are counted', async () => {
  const subscribe = (to: string, event: string) =>
    call('POST', '/v1/webhooks', { url: to, events: [event] })
  const hooks = [subscribe(receiver.url, 'pacs.008'), subscribe(failing.url, 'pacs.002')]
  expect(await statuses(hooks)).toEqual([201, 201])
  expect(await statuses(times(3, (index) => send(100 + index)))).toEqual([202, 202, 202])
  bank.payIn({ to: ispb, amountCents: 500n })
  bank.payIn({ to: ispb, amountCents: 600n })
  const processed = (type: string, direction: string, outcome: string) =>
    of('spigw_messages_processed_total', { type, direction, status: outcome })
  const delivery = (event_type: string, outcome: string) =>
    of('spigw_webhook_deliveries_total', { event_type, status: outcome })
  await expectSamples({
    [processed('pacs.008', 'OUTBOUND', 'SENT')]: 3,
    [processed('pacs.008', 'OUTBOUND', 'ACCEPTED')]: 3,
    [processed('pacs.008', 'INBOUND', 'PROCESSED')]: 2,
    [processed('pacs.002', 'OUTBOUND', 'SENT')]: 2,
  })
  await expectSamples({
    [delivery('pacs.008', 'delivered')]: 2,
    [of('spigw_signing_seconds_count', { provider: 'node:crypto' })]: 5,
    spigw_outbound_in_flight: 0,
    spigw_unknown_outcomes: 0,
    [of('spigw_link_up', { channel: 'PRIMARY' })]: 1,
    spigw_outbound_batch_messages_sum: 5,
    spigw_inbound_duplicates_total: 0,
  })
  const stuck = of('trilho_loop_stuck_seconds', { loop: 'consumer of spi.outbound (spi-outbound)' })
  // What is pulled is worked on a little later, a refused delivery tried again, and a consumer that has
  // nothing to do looks again after a while: each scrape is a moment of its own.
  const hasSettled = async (): Promise<boolean> => {
    const samples = await scrape()
    const told = (name: string): number => samples.get(name) ?? Number.NaN
    const refused = told(delivery('pacs.002', 'failed'))
    const pulled = told(of('spigw_pull_batch_messages_sum', { channel: 'PRIMARY' }))
    return (
      refused >= 3 &&
      refused === failing.received.length &&
      pulled >= 5 &&
      pulled === told('spigw_worker_batch_messages_sum') &&
      told(stuck) < 3
    )
  }
  await until(hasSettled, waitMs, 'the same numbers on both sides')
})

test('what waits, is under way, unknown or given up is told while it is so', async () => {
  const queue = { topic: 'spi.inbound.primary', group: 'spi-worker' }
  const depth = of('spigw_broker_queue_depth', queue)
  const age = of('spigw_broker_queue_age_seconds', queue)
  const locked = Promise.withResolvers<void>()
  const letGo = Promise.withResolvers<void>()
  const transaction = database.sql.begin(async (tx) => {
    // Read by scrapes, written by nobody.
    await tx`lock table spi_messages in share mode`
    locked.resolve()
    await letGo.promise
  })
  await locked.promise
  for (let index = 0; index < 4; index++) bank.payIn({ to: ispb, amountCents: 1n })
  await expectSamples({ [depth]: 4 })
  const waiting = await scrape()
  expect(waiting.get(age)).toBeGreaterThan(0)
  expect(waiting.get(age)).toBeLessThan(waitMs / 1000)
  letGo.resolve()
  await transaction
  await expectSamples({ [depth]: 0, [age]: 0 })

  // Long enough for a scrape of a busy machine; one payment, for two need not be taken up together.
  bank.setFaults([{ kind: 'latency', operation: 'send', delayMs: 4_000 }])
  await statuses([send(1)])
  await expectSamples({ spigw_outbound_in_flight: 1 })
  bank.setFaults([])
  await expectSamples({ spigw_outbound_in_flight: 0 })

  const change = (from: string, to: string) => database.sql`
    update spi_messages set status = ${to}
    where id in (select id from spi_messages where direction = 'OUTBOUND' and status = ${from} limit 1)`
  await change('ACCEPTED', 'UNKNOWN')
  await expectSamples({ spigw_unknown_outcomes: 1 })
  await change('UNKNOWN', 'ACCEPTED')
  await expectSamples({ spigw_unknown_outcomes: 0 })

  const outside = createPostgresBroker({
    sql: database.sql,
    dsn: database.dsn,
    logger: quietLogger,
  })
  const stray = { topic: 'spi.outbound', key: 'x', value: Buffer.from('of nobody'), headers: {} }
  await outside.publish([stray])
  const letters = { topic: 'spi.outbound', code: 'outbound_message_unknown' }
  await expectSamples({ [of('spigw_broker_dead_letters_total', letters)]: 1 })
})

test('card networks, their links, time-outs, reversals and operations are counted', async () => {
  const [up, inFlight] = ['cardgw_network_connections_up', 'cardgw_network_in_flight']
  await expectSamples({
    [of(up, { network: 'neta' })]: 2,
    [of(up, { network: 'netb' })]: 0,
    [of(inFlight, { network: 'neta' })]: 0,
  })
  const authorize = (token: string) =>
    call('POST', '/v1/transactions/authorize', authorizationBody(token))
  expect(
    await statuses(
      times(2, () => authorize('tok_visa_approved')).concat(authorize('tok_visa_declined_51')),
    ),
  ).toEqual([201, 201, 201])
  const slow = authorize('tok_visa_timeout')
  await expectSamples({ [of(inFlight, { network: 'neta' })]: 1 })
  expect((await slow).status).toBe(504)
  const operation = (outcome: string) =>
    of('cardgw_operations_total', { operation: 'authorization', network: 'neta', outcome })
  const samples = await expectSamples({
    [of(inFlight, { network: 'neta' })]: 0,
    [operation('approved')]: 2,
    [operation('declined')]: 1,
    [of('cardgw_network_timeouts_total', { network: 'neta' })]: 1,
    [of('cardgw_reversals_total', { network: 'neta', outcome: 'confirmed' })]: 1,
  })
  const reconnects = of('cardgw_network_reconnects_total', { network: 'netb' })
  expect(samples.get(reconnects)).toBeGreaterThan(0)
  for (const labels of samples.keys()) expect(labels).not.toMatch(/\d{13,}/)
})
