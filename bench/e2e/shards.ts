/*
 * How throughput grows if each institution has a database of its own: payments from their HTTP request until they are
 * accepted. Each shard has one gateway with every stage and one PostgreSQL; all share one simulated central bank.
 *
 *   bun bench/e2e/shards.ts --shards 1,2,4 --payments 1000 --clients 16 --rounds 3
 *
 * Shards share nothing else but the machine. So the rate grows until the machine's cores are busy, and the gateway
 * shows in the CPU time that a payment costs a shard, which may not grow with their number.
 */
import { availableParallelism, loadavg } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import postgres from 'postgres'
import { startEmbeddedPostgres } from '#src/platform/database/index.ts'
import { apiKeyFile } from '../../test/support/api-key.ts'
import { transfer } from '../../test/support/participant.ts'
import { startProgram, variants } from '../../test/support/program.ts'
import { temporaryDirectory } from '../../test/support/temporary.ts'
import { until } from '../../test/support/until.ts'
import { median } from '../harness.ts'
import { familyUs } from '../processes.ts'
import type { Load, LoadResult } from './load.ts'
import { notCounts, refuse } from './options.ts'

const { values } = parseArgs({
  options: {
    shards: { type: 'string', default: '1,2,4' },
    payments: { type: 'string', default: '1000' },
    clients: { type: 'string', default: '16' },
    rounds: { type: 'string', default: '3' },
  },
})
refuse(notCounts(values, ['shards', 'payments', 'clients', 'rounds']))

const counts = values.shards.split(',').map(Number)
const payments = Number(values.payments)
const settleMs = 600_000
/** A participant of the simulated central bank that accepts every payment. */
const accepting = '99999A04'
const sources = variants[0]
if (sources === undefined) throw new Error('no program')

const bank = startProgram(sources, [
  ...['sim', 'central-bank', '--json', '--port', '0', '--secondary-port', '0'],
])
const { central_bank: urls } = JSON.parse(
  await bank.line((line) => line.includes('primary_url')),
) as { readonly central_bank: { readonly primary_url: string; readonly secondary_url: string } }
const { file: keysFile, key } = await apiKeyFile('spi:send')

const startShard = async (number: number) => {
  const ispb = String(12_345_678 + number)
  const server = await startEmbeddedPostgres({
    directory: join(temporaryDirectory(), `postgres-${number}`),
  })
  const gateway = startProgram(sources, ['serve'], {
    env: {
      ISPB: ispb,
      DATABASE_DSN: server.url,
      API_KEYS_FILE: keysFile,
      HTTP_ADDR: '127.0.0.1:0',
      CARDGW_PORT: '0',
      SPI_PRIMARY_URL: urls.primary_url,
      SPI_SECONDARY_URL: urls.secondary_url,
      SPI_ROLES: 'INBOUND_PULL,WORKER,OUTBOUND_SEND',
      SPI_PACING_ENABLED: 'false',
    },
  })
  const line = await gateway.line((text) => text.includes('"msg":"listening"'))
  const { http_url: url } = JSON.parse(line) as { readonly http_url: string }
  const sql = postgres(server.url, { max: 1, onnotice: () => {} })
  const accepted = async (): Promise<number> => {
    const [row] = await sql<{ count: number }[]>`
      select count(*)::int as count from spi_messages
      where status = 'ACCEPTED' and direction = 'OUTBOUND'`
    return row?.count ?? 0
  }
  return {
    gatewayUs: () => familyUs(gateway.pid),
    databaseUs: () => familyUs(server.pid),
    pay: async (): Promise<void> => {
      const before = await accepted()
      const transactions = [transfer(ispb, accepting, 100)]
      const params = { local_instrument: 'MANU', transactions }
      const payment = { message_type: 'PACS008', params }
      const load: Load = {
        url: `${url}/v1/spi/send`,
        key,
        bodies: [payment],
        count: payments,
        clients: Number(values.clients),
      }
      const child = Bun.spawn(
        [process.execPath, join(import.meta.dir, 'load.ts'), JSON.stringify(load)],
        { stdio: ['ignore', 'pipe', 'inherit'] },
      )
      const { refused } = JSON.parse(await new Response(child.stdout).text()) as LoadResult
      if (refused > 0) throw new Error(`${refused} payments were refused`)
      await until(async () => (await accepted()) >= before + payments, settleMs)
    },
    stop: async (): Promise<void> => {
      await sql.end()
      gateway.signal('SIGTERM')
      await gateway.end()
      await server.stop()
    },
  }
}

type Shard = Awaited<ReturnType<typeof startShard>>
type Round = { readonly perSecond: number; readonly gatewayUs: number; readonly databaseUs: number }

const sum = (numbers: readonly number[]): number => numbers.reduce((all, one) => all + one, 0)

/** Runs all shards at once; a payment's cost for gateways and databases. */
const round = async (shards: readonly Shard[]): Promise<Round> => {
  const used = () => ({
    gateways: sum(shards.map((shard) => shard.gatewayUs())),
    databases: sum(shards.map((shard) => shard.databaseUs())),
  })
  const before = used()
  const startMs = performance.now()
  await Promise.all(shards.map((shard) => shard.pay()))
  const seconds = (performance.now() - startMs) / 1_000
  const after = used()
  const all = payments * shards.length
  return {
    perSecond: all / seconds,
    gatewayUs: (after.gateways - before.gateways) / all,
    databaseUs: (after.databases - before.databases) / all,
  }
}

const shards: Shard[] = []
while (shards.length < Math.max(...counts)) shards.push(await startShard(shards.length))
// The first round does not count: a process does some things once.
await round(shards)

const seen = new Map(counts.map((count) => [count, [] as Round[]]))
for (let turn = 0; turn < Number(values.rounds); turn++) {
  for (const count of counts) seen.get(count)?.push(await round(shards.slice(0, count)))
}
const of = (count: number, figure: keyof Round): number =>
  median((seen.get(count) ?? []).map((one) => one[figure]))
const cost = (count: number): number => of(count, 'gatewayUs') + of(count, 'databaseUs')
const [first = 1] = counts
for (const count of counts) {
  const rate = of(count, 'perSecond')
  console.log(
    `${count} shards: ${rate.toFixed(0)} payments/s (×${(rate / of(first, 'perSecond')).toFixed(2)}), a payment costs ` +
      `gateways ${of(count, 'gatewayUs').toFixed(0)} µs, databases ${of(count, 'databaseUs').toFixed(0)} µs ` +
      `(×${(cost(count) / cost(first)).toFixed(2)}), ${((rate * cost(count)) / 1e6).toFixed(2)} cores for both`,
  )
}
console.log(
  `${availableParallelism()} cores, load ${loadavg()
    .map((load) => load.toFixed(1))
    .join(' ')}`,
)
await Promise.all(shards.map((shard) => shard.stop()))
bank.signal('SIGTERM')
await bank.end()
