import { expect, setDefaultTimeout, test } from 'bun:test'
import postgres from 'postgres'
import { createTestDatabase } from '../support/database.ts'
import { transfer } from '../support/participant.ts'
import { anyVariant, runProgram, startProgram } from '../support/program.ts'

setDefaultTimeout(60_000)

const waitMs = 40_000

type Readiness = { readonly status: number; readonly reason: string | undefined }

const readiness = async (url: string): Promise<Readiness> => {
  const response = await fetch(`${url}/ready`)
  const { reason } = (await response.json()) as { readonly reason?: string }
  return { status: response.status, reason }
}

const until = async (url: string, wanted: (now: Readiness) => boolean): Promise<Readiness> => {
  const deadlineMs = performance.now() + waitMs
  for (;;) {
    const now = await readiness(url)
    if (wanted(now)) return now
    if (performance.now() > deadlineMs) throw new Error(`still ${JSON.stringify(now)}`)
    await Bun.sleep(20)
  }
}

/** What waits for each table, and the loop that is to be named. */
const stalls = [
  { table: 'webhook_events', loop: 'outbox of webhook events' },
  { table: 'webhook_endpoints', loop: 'due webhook deliveries' },
  { table: 'card_reversals', loop: 'due card reversals' },
  { table: 'card_transactions', loop: 'abandoned card operations' },
  { table: 'broker_lanes', loop: 'leases of the broker' },
  { table: 'broker_queue', loop: 'search of the queues' },
] as const

test('loops that a lock holds up make the program not ready, by name, until it is let go', async () => {
  const { dsn, sql, close } = await createTestDatabase()
  const env = {
    HTTP_ADDR: '127.0.0.1:0',
    CARDGW_PORT: '0',
    DATABASE_DSN: dsn,
    CARDGW_DATABASE_URL: dsn,
    // Nothing answers there: that alone holds nothing up.
    CARDGW_NETA_HOST: '127.0.0.1',
    CARDGW_NETA_PORT: '1',
    CARDGW_VAULT_URL: 'http://127.0.0.1:1',
    CARDGW_VAULT_TOKEN: 'a-token-of-the-vault',
    TRILHO_STALL_SECONDS: '1',
  }
  const create = ['keys', 'create', '--name', 'ops', '--scopes', 'ops:read', '--json']
  const { key } = JSON.parse((await runProgram(anyVariant, create, { env })).out) as { key: string }
  const headers = { Authorization: `Bearer ${key}` }
  const program = startProgram(anyVariant, ['serve'], { env })
  const line = await program.line((text) => text.includes('"msg":"listening"'))
  const { http_url: url } = JSON.parse(line) as { http_url: string }
  await until(url, ({ status }) => status === 200)
  // Before it has a lane it searches in none, and nothing could hold that search up.
  const reads = async () =>
    (await sql`select 1 from broker_lanes where owner is not null`).length > 0
  for (const deadlineMs = performance.now() + waitMs; !(await reads()); await Bun.sleep(20)) {
    if (performance.now() > deadlineMs) throw new Error('no lane is read')
  }
  const holding = Promise.withResolvers<void>()
  const letGo = Promise.withResolvers<void>()
  // A client of the product would end the transaction after ten silent seconds.
  const other = postgres(dsn, { max: 1, onnotice: () => {} })
  const locked = other.begin(async (tx) => {
    for (const { table } of stalls) await tx`lock table ${tx(table)} in access exclusive mode`
    holding.resolve()
    await letGo.promise
  })
  await holding.promise
  const stalledNames = async (): Promise<readonly string[]> => {
    const response = await fetch(`${url}/health`, { headers })
    expect(response.status).toBe(200)
    const { checks } = (await response.json()) as {
      readonly checks: {
        readonly progress: { readonly detail?: { readonly stalled: readonly { loop: string }[] } }
      }
    }
    return checks.progress.detail?.stalled.map(({ loop }) => loop) ?? []
  }
  const named = (names: readonly string[]) => stalls.every(({ loop }) => names.includes(loop))
  const deadlineMs = performance.now() + waitMs
  while (!named(await stalledNames())) {
    if (performance.now() > deadlineMs) throw new Error(`only ${await stalledNames()}`)
    await Bun.sleep(50)
  }
  // Health is asked any time, the log is written by a watch that looks once a second.
  const isLogged = (loop: string) => (text: string) =>
    text.includes(`"loop":"${loop}"`) && text.includes('stalled: not ready')
  for (const { loop } of stalls) await program.line(isLogged(loop))
  const { status, reason } = await readiness(url)
  expect(status).toBe(503)
  expect(reason).toMatch(/^.+ has made no progress for \d+ s$/)
  letGo.resolve()
  await locked
  await other.end()
  await until(url, (now) => now.status === 200)
  program.signal('SIGTERM')
  expect((await program.end()).code).toBe(0)
  await close()
})

test('counterparties that are away or refuse access do not make it not ready: what waits for them is told apart', async () => {
  const { dsn, close } = await createTestDatabase()
  let refusals = 0
  const bank = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch: ({ method }) => {
      if (method === 'POST') refusals++
      return new Response('', { status: 403 })
    },
  })
  const env = {
    HTTP_ADDR: '127.0.0.1:0',
    CARDGW_PORT: '0',
    DATABASE_DSN: dsn,
    ISPB: '12345678',
    SPI_PRIMARY_URL: bank.url.origin,
    SPI_ROLES: 'OUTBOUND_SEND,INBOUND_PULL,WORKER',
    // Nothing answers at any of these.
    CARDGW_DATABASE_URL: dsn,
    CARDGW_NETA_HOST: '127.0.0.1',
    CARDGW_NETA_PORT: '1',
    CARDGW_VAULT_URL: 'http://127.0.0.1:1',
    CARDGW_VAULT_TOKEN: 'a-token-of-the-vault',
    DREX_TESTNET_RPC_URLS: 'http://127.0.0.1:1',
    TRILHO_STALL_SECONDS: '1',
    DREX_TESTNET_TOKEN: `0x${'1'.repeat(40)}`,
  }
  const create = ['keys', 'create', '--name', 'ops', '--scopes', 'spi:*,ops:read', '--json']
  const { key } = JSON.parse((await runProgram(anyVariant, create, { env })).out) as { key: string }
  const headers = { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' }
  const program = startProgram(anyVariant, ['serve'], { env })
  const line = await program.line((text) => text.includes('"msg":"listening"'))
  const { http_url: url } = JSON.parse(line) as { http_url: string }
  const params = { local_instrument: 'MANU', transactions: [transfer('12345678', '99999A04', 100)] }
  const body = JSON.stringify({ message_type: 'PACS008', params })
  // One message alone may be to blame itself: it takes two to say that it is us who are refused.
  const send = () => fetch(`${url}/v1/spi/send`, { method: 'POST', headers, body })
  const sent = await Promise.all([send(), send()])
  expect(sent.map(({ status }) => status)).toEqual([202, 202])
  // Each once, perhaps once together; the next try, five seconds later, comes long after what counts as a stall.
  const answers = new Set<string>()
  while (refusals < 4) {
    const { status, reason } = await readiness(url)
    answers.add(`${status} ${reason}`)
    await Bun.sleep(20)
  }
  expect([...answers]).toEqual(['200 undefined'])
  const health = async () => {
    const response = await fetch(`${url}/health`, { headers })
    return (await response.json()) as { checks: { outbound: { status: string } } }
  }
  // The second refusal has to be read before it shows.
  while ((await health()).checks.outbound.status !== 'down') await Bun.sleep(20)
  expect(await health()).toMatchObject({
    checks: {
      outbound: { status: 'down', detail: { primary: { access_refused: true } } },
      drex: { status: 'degraded', detail: { drex_testnet: { status: 'unreachable' } } },
      card_networks: { status: 'down', detail: { neta: { connections_up: 0 } } },
      cards: { status: 'down', detail: { vault: 'away' } },
    },
  })
  program.signal('SIGTERM')
  expect((await program.end()).code).toBe(0)
  await bank.stop(true)
  await close()
})
