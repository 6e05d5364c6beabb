/**
 * Card authorizations through a gateway process of its own, with a durable PostgreSQL, a simulated network and a vault
 * beside it. Two cores do all the work, that of the clients too.
 */

import { randomUUID } from 'node:crypto'
import { dialects, framings } from '#codecs/iso8583'
import { migrate, startEmbeddedPostgres } from '#src/platform/database/index.ts'
import { migrations } from '../../drizzle/index.ts'
import {
  type CardNetwork,
  createCardNetwork,
  createTestVault,
  testVaultKey,
} from '../../src/simulators/card-network/index.ts'
import { apiKeyFile } from '../../test/support/api-key.ts'
import { quietLogger } from '../../test/support/database.ts'
import { temporaryDirectory } from '../../test/support/temporary.ts'
import { type Figure, type Mode, median, type Suite, smoke } from '../harness.ts'
import { percentile } from '../processes.ts'
import { type Server, startServer } from '../server-process.ts'

const authorizationsPerSecond = 3_000
const clients = 64
const requestsPerSecond = 1_000
const p99MsMax = 60
const cpuUsMax = 120
/** The rate of one connection to the network is at least 80 % of that of five. */
const oneConnectionTimesMax = 1.25
/** The growth of memory after collection, from the first third of the long run to its end. */
const growthMbMax = 20
const connectionRounds = 3
const bytesPerMb = 1_048_576
const amountCents = 10_000

const body = JSON.stringify({
  card_token: 'tok_visa_approved',
  amount: amountCents,
  currency: 'BRL',
  merchant_id: 'MERCHANT000001',
  terminal_id: 'TERM01',
})

type Authorize = () => Promise<void>

const authorizeAt =
  ({ url }: Server, key: string): Authorize =>
  async () => {
    const response = await fetch(`${url}/v1/transactions/authorize`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${key}`,
        'content-type': 'application/json',
        'idempotency-key': randomUUID(),
      },
      body,
    })
    const answer = await response.text()
    if (response.status !== 201 || !answer.includes('"authorized"')) {
      throw new Error(`${response.status}: ${answer}`)
    }
  }

/** Milliseconds from the first request to the last answer. */
const burst = async (authorize: Authorize, count: number): Promise<number> => {
  const before = performance.now()
  let left = count
  const client = async (): Promise<void> => {
    while (left-- > 0) await authorize()
  }
  await Promise.all(Array.from({ length: clients }, client))
  return performance.now() - before
}

type Latency = { readonly p50: number; readonly p99: number }

/** Milliseconds from request to answer, at an even rate. */
const latency = async (authorize: Authorize, count: number): Promise<Latency> => {
  const tookMs: number[] = []
  const running: Promise<void>[] = []
  const startMs = performance.now()
  for (let i = 0; i < count; i++) {
    const dueMs = startMs + (i * 1_000) / requestsPerSecond
    const waitMs = dueMs - performance.now()
    if (waitMs > 0) await Bun.sleep(waitMs)
    // A latency counts from when the request was due: a client that comes late has waited too.
    running.push(authorize().then(() => void tookMs.push(performance.now() - dueMs)))
  }
  await Promise.all(running)
  return { p50: percentile(tookMs, 0.5), p99: percentile(tookMs, 0.99) }
}

/** Checks that every authorization reached the network exactly once. */
const checkBook = (network: CardNetwork, count: number): void => {
  const book = network.book()
  const isOnce = book.every(
    ({ authorizedAmount, requests }) => authorizedAmount === amountCents && requests === 1,
  )
  if (book.length !== count || !isOnce) throw new Error('the book of the network does not agree')
}

const startNetwork = (): CardNetwork => {
  const dialect = dialects['ascii']
  if (dialect === undefined) throw new Error('no such dialect')
  const network = createCardNetwork({ dialect, framing: framings['binary-2'] })
  network.start()
  return network
}

type Parts = {
  readonly start: (poolSize: number) => Promise<{ server: Server; authorize: Authorize }>
  readonly network: CardNetwork
}

/** Compares the gateway with five connections and with one, which shows whether answers wait for each other. */
const oneConnection = async ({ start }: Parts, count: number): Promise<number> => {
  const [five, one] = [await start(5), await start(1)]
  const ratios: number[] = []
  for (let round = 0; round < connectionRounds; round++) {
    const fiveMs = await burst(five.authorize, count)
    ratios.push((await burst(one.authorize, count)) / fiveMs)
  }
  await Promise.all([five.server.stop(), one.server.stop()])
  return median(ratios)
}

type Counts = { readonly warmUp: number; readonly many: number; readonly even: number }

const sustained = async (
  { start, network }: Parts,
  { warmUp, many, even }: Counts,
): Promise<readonly Figure[]> => {
  const { server, authorize } = await start(5)
  await burst(authorize, warmUp)
  // This comes before the long run, whose hundred thousand entries would be garbage of this process.
  const { p50, p99 } = await latency(authorize, even)
  const firstMs = await burst(authorize, Math.ceil(many / 3))
  const rssBefore = await server.rssBytes()
  const cpuBefore = await server.cpuUs()
  const restMs = await burst(authorize, Math.floor((many * 2) / 3))
  const cpuUs = ((await server.cpuUs()) - cpuBefore) / Math.floor((many * 2) / 3)
  const growth = (await server.rssBytes()) - rssBefore
  checkBook(network, warmUp + many + even)
  await server.stop()
  const rate = Math.round((many / (firstMs + restMs)) * 1_000)
  console.error(
    `  ${many} authorizations: ${rate}/s; at ${requestsPerSecond}/s p50 ${p50.toFixed(1)} ms`,
  )
  return [
    {
      name: `${many} authorizations of ${clients} clients, first request to last answer`,
      value: firstMs + restMs,
      unit: 'ms',
      atMost: (many / authorizationsPerSecond) * 1_000,
    },
    {
      name: 'CPU of the gateway for an authorization',
      value: cpuUs,
      unit: 'µs',
      atMost: cpuUsMax,
    },
    {
      name: `memory gained over the last ${Math.floor((many * 2) / 3)} authorizations`,
      value: growth / bytesPerMb,
      unit: 'MB',
      atMost: growthMbMax,
    },
    {
      name: `authorization at ${requestsPerSecond}/s, p99`,
      value: p99,
      unit: 'ms',
      atMost: p99MsMax,
    },
  ]
}

const figures = async (mode: Mode): Promise<readonly Figure[]> => {
  const directory = temporaryDirectory()
  const postgres = await startEmbeddedPostgres({ directory })
  await migrate(postgres.url, migrations, quietLogger)
  const network = startNetwork()
  const vault = createTestVault({ key: testVaultKey })
  const { file: keyFile, key } = await apiKeyFile('cards:*')
  const start: Parts['start'] = async (poolSize) => {
    const settings = JSON.stringify({
      CARDGW_NETA_HOST: '127.0.0.1',
      CARDGW_NETA_PORT: String(network.port()),
      CARDGW_NETA_POOL_SIZE: String(poolSize),
      CARDGW_VAULT_URL: vault.url,
      CARDGW_VAULT_TOKEN: testVaultKey,
    })
    const server = await startServer('cards.ts', postgres.url, keyFile, settings)
    return { server, authorize: authorizeAt(server, key) }
  }
  const isSmoke = mode === smoke
  const counts: Counts = isSmoke
    ? { warmUp: 100, many: 300, even: 50 }
    : { warmUp: 3_000, many: 150_000, even: 10_000 }
  try {
    return [
      ...(await sustained({ start, network }, counts)),
      {
        name: 'time with one connection to the network by that with five',
        value: await oneConnection({ start, network }, isSmoke ? 50 : 5_000),
        unit: '×',
        atMost: oneConnectionTimesMax,
      },
    ]
  } finally {
    network.stop()
    await vault.stop()
    await postgres.stop()
  }
}

export const cardsSuite: Suite = { name: 'cards', groups: () => [], figures }
