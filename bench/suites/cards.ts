/**
 * Card authorizations through a gateway process of its own, with a durable PostgreSQL, a simulated network and a
 * vault beside it: two cores carry all of it, the clients too.
 */
import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { dialects, framings } from '#codecs/iso8583'
import { createKeyFileStore } from '#src/platform/auth/index.ts'
import { migrate, startEmbeddedPostgres } from '#src/platform/database/index.ts'
import { migrations } from '../../drizzle/index.ts'
import {
  type CardNetwork,
  createCardNetwork,
  createTestVault,
  TEST_VAULT_KEY,
} from '../../src/simulators/card-network/index.ts'
import { quietLogger } from '../../test/support/database.ts'
import { type Figure, type Mode, type Suite, smoke } from '../harness.ts'
import { type Server, startServer } from '../server-process.ts'

const AUTHORIZATIONS_PER_SECOND = 1_000
const CLIENTS = 64
const REQUESTS_PER_SECOND = 200
const P99_MS_MAX = 50
const AMOUNT_CENTS = 10_000

const body = JSON.stringify({
  card_token: 'tok_visa_approved',
  amount: AMOUNT_CENTS,
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
  await Promise.all(Array.from({ length: CLIENTS }, client))
  return performance.now() - before
}

/** The 99th percentile of the time from request to answer, at an even rate. */
const latency = async (authorize: Authorize, count: number): Promise<number> => {
  const tookMs: number[] = []
  const running: Promise<void>[] = []
  const startMs = performance.now()
  for (let i = 0; i < count; i++) {
    const dueMs = startMs + (i * 1_000) / REQUESTS_PER_SECOND
    const waitMs = dueMs - performance.now()
    if (waitMs > 0) await Bun.sleep(waitMs)
    // From when it was due: a client that comes late has waited too.
    running.push(authorize().then(() => void tookMs.push(performance.now() - dueMs)))
  }
  await Promise.all(running)
  return tookMs.toSorted((a, b) => a - b)[Math.floor(count * 0.99)] ?? Number.NaN
}

/** Every authorization reached the network, and once. */
const checkBook = (network: CardNetwork, count: number): void => {
  const book = network.book()
  const isOnce = book.every(
    ({ authorizedAmount, requests }) => authorizedAmount === AMOUNT_CENTS && requests === 1,
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

const figures = async (mode: Mode): Promise<readonly Figure[]> => {
  const directory = mkdtempSync(join(tmpdir(), 'trilho-bench-cards-'))
  const postgres = await startEmbeddedPostgres({ directory })
  await migrate(postgres.url, migrations, quietLogger)
  const network = startNetwork()
  const vault = createTestVault({ key: TEST_VAULT_KEY })
  const keyFile = join(directory, 'keys.json')
  const { key } = await createKeyFileStore(keyFile, () => new Date()).create({
    ...{ name: 'bench', environment: 'test', grants: ['cards:*'], expiresAt: undefined },
  })
  const settings = JSON.stringify({
    CARDGW_NETA_HOST: '127.0.0.1',
    CARDGW_NETA_PORT: String(network.port()),
    CARDGW_VAULT_URL: vault.url,
    CARDGW_VAULT_TOKEN: TEST_VAULT_KEY,
  })
  const isSmoke = mode === smoke
  const [warmUp, many, even] = isSmoke ? [100, 300, 50] : [3_000, 20_000, 4_000]
  try {
    const server = await startServer('cards.ts', postgres.url, keyFile, settings)
    const authorize = authorizeAt(server, key)
    await burst(authorize, warmUp)
    const burstMs = await burst(authorize, many)
    const p99Ms = await latency(authorize, even)
    checkBook(network, warmUp + many + even)
    console.error(`  ${many} authorizations: ${Math.round((many / burstMs) * 1_000)}/s`)
    return [
      {
        name: `${many} authorizations of ${CLIENTS} clients, first request to last answer`,
        value: burstMs,
        unit: 'ms',
        atMost: (many / AUTHORIZATIONS_PER_SECOND) * 1_000,
      },
      {
        name: `authorization at ${REQUESTS_PER_SECOND}/s, p99`,
        value: p99Ms,
        unit: 'ms',
        atMost: P99_MS_MAX,
      },
    ]
  } finally {
    network.stop()
    await vault.stop()
    await postgres.stop()
    rmSync(directory, { recursive: true, force: true })
  }
}

export const cardsSuite: Suite = { name: 'cards', groups: () => [], figures }
