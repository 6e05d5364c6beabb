/**
 * Two gateways on one database, behind a node that lies now and then. One is killed, or stopped where it is, amid
 * transfers; the other goes on with all of them; then the stopped one comes back and knows nothing of it.
 */
import { expect, test } from 'bun:test'
import { createLyingNode, lieAtRandom } from '../drex/lying-node.ts'
import { seeded } from '../support/contract-bench.ts'
import { createTestDatabase, type TestDatabase } from '../support/database.ts'
import { createRig, type Peer, type Rig } from '../support/drex-rig.ts'
import { seed } from '../support/seed.ts'
import { until } from '../support/until.ts'

/** The long lane takes over a hundred times; the ordinary one in the first two ways. */
const rounds = process.env['TRILHO_LONG'] === '1' ? 100 : 2
const perRound = 16
const walletCount = 4
const fundsCents = 10_000_000n
const blockTimeMs = 60
const settleMs = 60_000

type Payment = {
  readonly key: string
  readonly from: number
  readonly to: number
  readonly cents: number
}

/** How a gateway goes: killed, stopped anywhere, or stopped while it holds the lanes of wallets. */
const ways = ['holding', 'killed', 'stopped'] as const

test(
  `${rounds} takeovers behind a lying node: nothing is sent twice, and the books are exact (seed ${seed})`,
  async () => {
    const pick = seeded(seed)
    const database = await createTestDatabase(3)
    await addHold(database)
    const rig = await createRig(database.dsn, {
      chain: { mining: blockTimeMs },
      env: { DREX_TESTNET_BLOCK_TIME_MS: String(blockTimeMs), DREX_RESEND_MS: '300' },
    })
    const node = createLyingNode(rig.chain)
    const behind = { DREX_TESTNET_RPC_URLS: node.url }
    const peers = new Set<Peer>()
    const start = async () => {
      const peer = await rig.peer(behind)
      peers.add(peer)
      return peer
    }
    try {
      await rig.start(behind)
      const wallets = await rig.wallets(walletCount, fundsCents)
      await rig.kill()
      let [heir, victim] = await Promise.all([start(), start()])
      lieAtRandom(node, pick)
      const payments: Payment[] = []
      for (let round = 0; round < rounds; round++) {
        const way = ways[round % ways.length]!
        const some = Array.from({ length: perRound }, (_, i): Payment => {
          const from = pick(walletCount)
          const to = (from + 1 + pick(walletCount - 1)) % walletCount
          return { key: `t-${round}-${i}`, from, to, cents: 1 + pick(5_000) }
        })
        payments.push(...some)
        if (way === 'holding') heir.signal('SIGSTOP')
        const asked = Promise.all(some.map((each) => attempt(victim, wallets, each)))
        await goes(victim, way, database, pick)
        if (way === 'holding') heir.signal('SIGCONT')
        // Whoever got no answer asks the other gateway, by the same key.
        if (way === 'killed') await asked
        for (const each of some) {
          await until(() => attempt(heir, wallets, each), settleMs, 'an answer')
        }
        await settled(database)
        await expectNoFalseEnd(rig, database)
        if (way === 'killed') {
          peers.delete(victim)
          if (round + 1 === rounds) break
          victim = await start()
        } else {
          victim.signal('SIGCONT')
          await asked
        }
        ;[heir, victim] = [victim, heir]
      }
      node.lie(undefined)
      node.refuse(undefined)
      for (const each of payments) expect(await attempt(heir, wallets, each)).toBe(true)
      await settled(database)
      await expectNoFalseEnd(rig, database)
      await expectBooks(rig, database, wallets, payments)
    } finally {
      await Promise.all([...peers].map((peer) => peer.stop()))
      await rig.stop()
      await node.stop()
      await database.close()
    }
  },
  60_000 + rounds * 40_000,
)

/** While `hold` has a row, whoever stores signatures waits once in its transaction, with the lanes of the wallets locked. */
const addHold = async ({ sql }: TestDatabase): Promise<void> => {
  await sql`create table hold ()`
  await sql`
    create function hold_lanes() returns trigger language plpgsql as $$
      begin
        if coalesce(current_setting('test.held', true), '') = '' and exists (select from hold) then
          perform set_config('test.held', 'yes', true), pg_sleep(0.4);
        end if;
        return new;
      end $$`
  await sql`
    create trigger hold_lanes before update on drex_transactions
      for each row when (old.status = 'pending' and new.status = 'signed')
      execute function hold_lanes()`
}

const goes = async (
  victim: Peer,
  way: (typeof ways)[number],
  { sql }: TestDatabase,
  pick: (below: number) => number,
): Promise<void> => {
  if (way !== 'holding') {
    await Bun.sleep(pick(300))
    return victim.signal(way === 'killed' ? 'SIGKILL' : 'SIGSTOP')
  }
  await sql`insert into hold default values`
  await until(async () => {
    const waiting = await sql`
      select from pg_stat_activity
      where datname = current_database() and wait_event = 'PgSleep'`
    return waiting.count > 0
  })
  victim.signal('SIGSTOP')
  await sql`delete from hold`
}

/** @returns whether the gateway answered that it has it */
const attempt = async (
  { call }: Peer,
  wallets: readonly string[],
  { key, from, to, cents }: Payment,
): Promise<boolean> => {
  const amount = `${Math.floor(cents / 100)}.${String(cents % 100).padStart(2, '0')}`
  const body = { from_wallet: wallets[from], to_wallet: wallets[to], amount }
  try {
    const headers = { 'Idempotency-Key': key }
    return (await call('POST', '/v1/drex/transfers', body, headers)).status === 202
  } catch {
    return false
  }
}

const settled = async ({ sql }: TestDatabase): Promise<void> =>
  until(
    async () => {
      const [open] = await sql<{ count: number }[]>`
        select count(*)::int as count from drex_transactions where status <> 'confirmed'`
      return open?.count === 0
    },
    settleMs,
    'every transfer confirmed',
  )

/** Every end that stands is the chain's own. */
const expectNoFalseEnd = async (rig: Rig, { sql }: TestDatabase): Promise<void> => {
  const ended = await sql<{ hash: string | null }[]>`
    select coalesce(mined_hash, hash) as hash from drex_transactions where status = 'confirmed'`
  for (const { hash } of ended) {
    const outcome = await rig.chain.request('eth_getTransactionReceipt', [hash])
    expect(outcome).toMatchObject({ result: { status: '0x1' } })
  }
}

/** One transaction for each payment, each nonce once and none missing, and what each wallet has to the cent. */
const expectBooks = async (
  rig: Rig,
  { sql }: TestDatabase,
  wallets: readonly string[],
  payments: readonly Payment[],
): Promise<void> => {
  const rows = await sql<{ sender: string; nonces: bigint[] }[]>`
    select sender, array_agg(nonce order by nonce) as nonces from drex_transactions group by sender`
  expect(rows.flatMap(({ nonces }) => nonces).length).toBe(payments.length)
  for (const { nonces } of rows) expect(nonces.map(Number)).toEqual(nonces.map((_, i) => i))
  const expected = wallets.map(() => fundsCents)
  for (const { from, to, cents } of payments) {
    expected[from]! -= BigInt(cents)
    expected[to]! += BigInt(cents)
  }
  expect(await Promise.all(wallets.map((wallet) => rig.balanceOf(wallet)))).toEqual(expected)
}
