/*
 * Honest transfers beside a hostile contract, a hostile node and a hostile client, each in a loop.
 *
 *   bun bench/e2e/hostile.ts --seconds 10 --rounds 5
 *
 * Rounds without and with them take turns in one gateway. The first of its three nodes is the hostile one: it lies, or
 * answers nonsense, too many bytes, or nothing at all. The contract reverts with text that nobody can store, at the
 * simulation or only in its block. The client sends requests that the gateway refuses. With them, the 99th percentile
 * of the answers to honest requests and of the times to confirmation may be twice as long; the median of the rounds'
 * ratios counts. Fails beyond that, or if a transfer is not confirmed.
 */
import { parseArgs } from 'node:util'
import postgres from 'postgres'
import { migrate, startEmbeddedPostgres } from '#src/platform/database/index.ts'
import { migrations } from '../../drizzle/index.ts'
import { createLyingNode, lieAtRandom } from '../../test/drex/lying-node.ts'
import { createAdmin, hostileCode } from '../../test/drex/support.ts'
import { seeded } from '../../test/support/contract-bench.ts'
import { quietLogger } from '../../test/support/database.ts'
import { createRig } from '../../test/support/drex-rig.ts'
import { temporaryDirectory } from '../../test/support/temporary.ts'
import { until } from '../../test/support/until.ts'
import { median } from '../harness.ts'
import { percentile } from '../processes.ts'
import { notAmong, notCounts, refuse } from './options.ts'

const companies = ['contract', 'node', 'client'] as const
const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '10' },
    rounds: { type: 'string', default: '5' },
    rate: { type: 'string', default: '20' },
    only: { type: 'string', multiple: true, default: [...companies] },
  },
})
refuse([
  ...notCounts(values, ['seconds', 'rounds', 'rate']),
  ...notAmong('only', values.only, companies),
])

const slowerMax = 2
const walletCount = 10
const heldCents = 100_000_000n
const settleMs = 60_000
const pokeMs = 50
const pick = seeded(20)

const server = await startEmbeddedPostgres({ directory: temporaryDirectory() })
await migrate(server.url, migrations, quietLogger)
const sql = postgres(server.url, { max: 1, onnotice: () => {} })
const rig = await createRig(server.url)
const hostile = createLyingNode(rig.chain)
const second = createLyingNode(rig.chain)
await rig.start({
  DREX_TESTNET_RPC_URLS: [hostile.url, rig.chain.url, second.url].join(','),
  DREX_RPC_TIMEOUT_MS: '2000',
})
const wallets = await rig.wallets(walletCount, heldCents)
const admin = await createAdmin(rig.chain, 0n, true)
const contract = (await admin.send(undefined, hostileCode))!
const poke = {
  type: 'function',
  name: 'poke',
  inputs: [],
  outputs: [],
  stateMutability: 'nonpayable',
}
const registered = await rig.call('POST', '/v1/contracts', { address: contract, abi: [poke] })
if (registered.status !== 201) throw new Error(JSON.stringify(registered.json))

let isHostile = false
const isOn = (who: (typeof companies)[number]): boolean => isHostile && values.only.includes(who)

const contractLoop = async (): Promise<void> => {
  for (let i = 0; isOn('contract'); i++) {
    // The simulation passes and the block refuses it, or the simulation refuses it.
    const word = `0x${(i % 8 < 4 ? '0' : '1').padStart(64, '0')}`
    await rig.chain.request('hardhat_setStorageAt', [contract, '0x0', word])
    const body = { function: 'poke', params: [], signer_wallet: wallets[0] }
    await rig.call('POST', `/v1/contracts/${contract}/call`, body)
    await Bun.sleep(pokeMs)
  }
}

const bytes = new Uint8Array(1024 * 1024).fill(0x20)
const endless = (): Response =>
  new Response(new ReadableStream({ pull: (controller) => controller.enqueue(bytes) }))
const node = {
  begin() {
    if (!isOn('node')) return
    lieAtRandom(hostile, pick)
    hostile.refuse(() => {
      const way = pick(6)
      if (way === 0) return endless()
      if (way === 1) return new Response('<html>', { status: 502 })
      // Nothing more comes.
      return way === 2 ? new Response(new ReadableStream({})) : undefined
    })
  },
  end() {
    hostile.refuse(undefined)
    hostile.lie(undefined)
  },
}

const wrong: readonly object[] = [
  { from_wallet: wallets[0], to_wallet: wallets[1], amount: '0.01', metadata: { a: 'a\0b' } },
  { from_wallet: wallets[0], to_wallet: wallets[1], amount: '-1.00' },
  { from_wallet: `0x${'99'.repeat(20)}`, to_wallet: wallets[1], amount: '0.01' },
  {
    from_wallet: wallets[0],
    to_wallet: wallets[1],
    amount: '0.01',
    metadata: { a: 'x'.repeat(60_000) },
  },
  { from_wallet: wallets[0], to_wallet: wallets[1], amount: '999999999.00' },
]
const clientLoop = async (): Promise<void> => {
  for (let i = 0; isOn('client'); i++) {
    await rig.call('POST', '/v1/drex/transfers', wrong[i % wrong.length])
    await Bun.sleep(5)
  }
}

type Times = { readonly answeredMs: number; readonly confirmedMs: number }

const round = async (): Promise<Times> => {
  const count = Number(values.seconds) * Number(values.rate)
  const startMs = performance.now()
  const answers: Promise<readonly [id: string, ms: number]>[] = []
  for (let i = 0; i < count; i++) {
    await Bun.sleep(Math.max(0, startMs + (i * 1_000) / Number(values.rate) - performance.now()))
    answers.push(pay(i))
  }
  const answered = await Promise.all(answers)
  const ids = answered.map(([id]) => id)
  await until(async () => {
    const [open] = await sql<{ count: number }[]>`
      select count(*)::int as count from drex_transactions
      where subject = any(${ids}) and status <> 'confirmed'`
    return open?.count === 0
  }, settleMs)
  const rows = await sql<{ ms: number }[]>`
    select (extract(epoch from settled_at - created_at) * 1000)::float8 as ms
    from drex_transactions where subject = any(${ids})`
  return {
    answeredMs: percentile(
      answered.map(([, ms]) => ms),
      0.99,
    ),
    confirmedMs: percentile(
      rows.map(({ ms }) => ms),
      0.99,
    ),
  }
}

const pay = async (i: number): Promise<readonly [id: string, ms: number]> => {
  const startMs = performance.now()
  const [from, to] = [
    wallets[1 + (i % (walletCount - 1))],
    wallets[1 + ((i + 1) % (walletCount - 1))],
  ]
  const body = { from_wallet: from, to_wallet: to, amount: '0.01' }
  const { status, json } = await rig.call('POST', '/v1/drex/transfers', body)
  if (status !== 202) throw new Error(`${status} ${JSON.stringify(json)}`)
  return [(json as { readonly transfer_id: string }).transfer_id, performance.now() - startMs]
}

const besideHostile = async (): Promise<Times> => {
  isHostile = true
  node.begin()
  const loops = [contractLoop(), clientLoop(), clientLoop(), clientLoop()]
  try {
    return await round()
  } finally {
    isHostile = false
    node.end()
    await Promise.all(loops)
  }
}

await round()
const ratios = { answered: [] as number[], confirmed: [] as number[] }
for (let i = 0; i < Number(values.rounds); i++) {
  const calm = await round()
  const beside = await besideHostile()
  ratios.answered.push(beside.answeredMs / calm.answeredMs)
  ratios.confirmed.push(beside.confirmedMs / calm.confirmedMs)
  console.log(
    `answers p99 ${calm.answeredMs.toFixed(0)} and ${beside.answeredMs.toFixed(0)} ms, ` +
      `confirmed p99 ${calm.confirmedMs.toFixed(0)} and ${beside.confirmedMs.toFixed(0)} ms`,
  )
}
const [answered, confirmed] = [median(ratios.answered), median(ratios.confirmed)]
console.log(
  `beside hostile ones: answers ${answered.toFixed(2)} ×, confirmed ${confirmed.toFixed(2)} ×`,
)
await rig.stop()
await Promise.all([hostile.stop(), second.stop()])
await sql.end()
await server.stop()
if (answered > slowerMax || confirmed > slowerMax) process.exit(1)
