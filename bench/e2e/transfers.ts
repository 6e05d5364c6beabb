/*
 * Transfers of digital currency from their HTTP request until each is confirmed. The gateway, PostgreSQL and the
 * senders are processes of their own; the embedded chain is in this one.
 *
 *   bun bench/e2e/transfers.ts --transfers 10000 --wallets 50 --clients 32 --rounds 3
 *
 * It prints the rate, the CPU time that a transfer costs each process, its statements and JSON-RPC calls, and the
 * engine's own work for it: a simulation, a submission, its place in a block and its receipt, without HTTP and without
 * anybody else. `--profile` also writes the profile of the gateway.
 */
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import postgres from 'postgres'
import { migrate, startEmbeddedPostgres } from '#src/platform/database/index.ts'
import { migrations } from '../../drizzle/index.ts'
import { addressOfPrivateKey, sign } from '../../src/drex/evm/secp256k1.ts'
import { assemble, signingDigest } from '../../src/drex/evm/transaction.ts'
import { quietLogger } from '../../test/support/database.ts'
import { createRig } from '../../test/support/drex-rig.ts'
import { temporaryDirectory } from '../../test/support/temporary.ts'
import { until } from '../../test/support/until.ts'
import { familyUs, percentile } from '../processes.ts'
import type { Load, LoadResult } from './load.ts'
import { notCounts, refuse } from './options.ts'

const { values } = parseArgs({
  options: {
    transfers: { type: 'string', default: '10000' },
    wallets: { type: 'string', default: '50' },
    clients: { type: 'string', default: '32' },
    warm: { type: 'string', default: '1000' },
    rounds: { type: 'string', default: '3' },
    profile: { type: 'boolean', default: false },
  },
})
refuse(notCounts(values, ['transfers', 'wallets', 'clients', 'warm', 'rounds']))

const settleMs = 240_000
const heldCents = 100_000_000n
const floorTransfers = 500

const server = await startEmbeddedPostgres({
  directory: join(temporaryDirectory(), 'postgres'),
  settings: { shared_preload_libraries: 'pg_stat_statements', 'pg_stat_statements.track': 'all' },
})
await migrate(server.url, migrations, quietLogger)
const sql = postgres(server.url, { max: 1, onnotice: () => {} })
await sql`create extension if not exists pg_stat_statements`
const rig = await createRig(server.url)
await rig.start(
  {},
  values.profile
    ? ['--cpu-prof-md', '--cpu-prof-name', 'gateway.cpu.md', '--cpu-prof-dir', '.']
    : [],
)
const wallets = await rig.wallets(Number(values.wallets), heldCents)

/** CPU time of all senders so far. */
let senderUs = 0

const run = async (count: number): Promise<LoadResult> => {
  const load: Load = {
    url: `${rig.url}/v1/drex/transfers`,
    key: rig.key,
    count,
    bodies: wallets.map((from, at) => ({
      from_wallet: from,
      to_wallet: wallets[(at + 1) % wallets.length],
      amount: '0.01',
    })),
    clients: Number(values.clients),
  }
  const child = Bun.spawn(
    [process.execPath, join(import.meta.dir, 'load.ts'), JSON.stringify(load)],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  )
  const result = JSON.parse(await new Response(child.stdout).text()) as LoadResult
  await child.exited
  senderUs += Number(child.resourceUsage()?.cpuTime.total ?? 0)
  await until(async () => {
    await Bun.sleep(50)
    return isDone()
  }, settleMs)
  return result
}

/** We look seldom, since the cost for PostgreSQL is not a transfer's. */
const isDone = async (): Promise<boolean> => {
  const [open] = await sql<{ is: boolean }[]>`
    select exists (select from drex_transactions
      where status in ('pending', 'signed', 'broadcast', 'mined')) as is`
  return open?.is === false
}

const expectConfirmed = async (): Promise<void> => {
  const [other] = await sql<{ count: number }[]>`
    select count(*)::int as count from drex_transactions where status <> 'confirmed'`
  if (other?.count !== 0) throw new Error(`${other?.count} transfers did not succeed`)
}

/** The engine's own work for a transfer, in µs of CPU time. */
const floorUs = async (): Promise<number> => {
  const key = crypto.getRandomValues(new Uint8Array(32))
  const from = addressOfPrivateKey(key)
  await rig.issuer.fund(from, heldCents)
  const to = rig.issuer.token as `0x${string}`
  const data =
    `0xa9059cbb${wallets[0]!.slice(2).toLowerCase().padStart(64, '0')}${'1'.padStart(64, '0')}` as const
  const raws = Array.from({ length: floorTransfers }, (_, nonce) => {
    const unsigned = {
      chainId: rig.chain.chainId,
      nonce,
      gasLimit: 150_000n,
      to,
      value: 0n,
      data,
      fees: { kind: 'legacy' as const, gasPrice: 0n },
    }
    return assemble(unsigned, sign(signingDigest(unsigned), key))
  })
  const before = process.cpuUsage()
  const ask = (method: string, ...params: readonly unknown[]) => rig.chain.request(method, params)
  await Promise.all(raws.map(() => ask('eth_call', { from, to, data }, 'latest')))
  await Promise.all(raws.map(({ raw }) => ask('eth_sendRawTransaction', raw)))
  const last = raws.at(-1)!.hash
  await until(async () => {
    const outcome = await ask('eth_getTransactionReceipt', last)
    return 'result' in outcome && outcome.result !== null
  }, settleMs)
  await Promise.all(raws.map(({ hash }) => ask('eth_getTransactionReceipt', hash)))
  const { user, system } = process.cpuUsage(before)
  return (user + system) / floorTransfers
}

const chainUs = (): number => {
  const { user, system } = process.cpuUsage()
  return user + system
}

await run(Number(values.warm))
for (let round = 0; round < Number(values.rounds); round++) {
  const count = Number(values.transfers)
  const floor = await floorUs()
  await sql`select pg_stat_statements_reset()`
  const calls = { ...rig.chain.calls() }
  const before = [familyUs(rig.pid()), familyUs(server.pid), chainUs(), senderUs]
  const startMs = performance.now()
  const { latenciesMs, refused } = await run(count)
  const seconds = (performance.now() - startMs) / 1_000
  const after = [familyUs(rig.pid()), familyUs(server.pid), chainUs(), senderUs]
  const [gateway = 0, database = 0, chain = 0, sender = 0] = after.map(
    (us, i) => (us - before[i]!) / count,
  )
  const asked = Object.entries(rig.chain.calls())
    .map(([method, times]) => [method, (times - (calls[method] ?? 0)) / count] as const)
    .filter(([, times]) => times >= 0.001)
    .map(([method, times]) => `${method} ${times.toFixed(3)}`)
  const statements = await sql<{ calls: number; query: string; ms: number }[]>`
    select calls::int, left(regexp_replace(query, '\\s+', ' ', 'g'), 90) as query, total_exec_time as ms
    from pg_stat_statements order by total_exec_time desc`
  const sum = statements.reduce((total, each) => total + each.calls, 0)
  console.log(
    `${(count / seconds).toFixed(0)} transfers/s; gateway ${gateway.toFixed(0)} µs, ` +
      `PostgreSQL ${database.toFixed(0)} µs, chain ${chain.toFixed(0)} µs, of which its engine alone ${floor.toFixed(0)} µs, sender ${sender.toFixed(0)} µs; ` +
      `${((gateway + database) / floor).toFixed(2)} × the engine; ${(sum / count).toFixed(3)} statements; ` +
      `POST p50 ${percentile(latenciesMs, 0.5).toFixed(0)} ms, p99 ${percentile(latenciesMs, 0.99).toFixed(0)} ms; refused ${refused}`,
  )
  console.log(`  ${asked.join(', ')}`)
  for (const each of statements.slice(0, 12)) {
    console.log(
      `  ${((each.ms * 1_000) / count).toFixed(0)} µs ${(each.calls / count).toFixed(3)} × ${each.query}`,
    )
  }
}
await expectConfirmed()
if (values.profile) {
  const pid = rig.pid()
  process.kill(pid, 'SIGTERM')
  await until(() => familyUs(pid) === 0)
}
await rig.stop()
await sql.end()
await server.stop()
