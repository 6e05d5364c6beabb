import { expect, test } from 'bun:test'
import { createLyingNode, lieAtRandom } from '../drex/lying-node.ts'
import { seeded } from '../support/contract-bench.ts'
import { createTestDatabase, type TestDatabase } from '../support/database.ts'
import { createRig, type Rig } from '../support/drex-rig.ts'
import { seed } from '../support/seed.ts'

/** The long lane kills many times; the ordinary one often enough to meet every lie. */
const kills = process.env['TRILHO_LONG'] === '1' ? 100 : 2
const perKill = 20
const walletCount = 4
const fundsCents = 10_000_000n
const blockTimeMs = 60
const settleMs = 120_000

test(
  `${kills} kills behind a lying node: no end is told that the chain contradicts (seed ${seed})`,
  async () => {
    const pick = seeded(seed)
    const database = await createTestDatabase(2)
    const rig = await createRig(database.dsn, {
      chain: { mining: blockTimeMs },
      env: { DREX_TESTNET_BLOCK_TIME_MS: String(blockTimeMs), DREX_RESEND_MS: '300' },
    })
    const node = createLyingNode(rig.chain)
    const start = () => rig.start({ DREX_TESTNET_RPC_URLS: node.url })
    try {
      await start()
      const wallets = await rig.wallets(walletCount, fundsCents)
      const expected = wallets.map(() => fundsCents)
      lieAtRandom(node, pick)
      for (let kill = 0; kill < kills; kill++) {
        for (let i = 0; i < perKill; i++) {
          const from = pick(walletCount)
          const to = (from + 1 + pick(walletCount - 1)) % walletCount
          const cents = 1 + pick(99)
          const amount = `0.${String(cents).padStart(2, '0')}`
          const body = { from_wallet: wallets[from], to_wallet: wallets[to], amount }
          const { status } = await rig.call('POST', '/v1/drex/transfers', body)
          if (status !== 202) continue
          expected[from]! -= BigInt(cents)
          expected[to]! += BigInt(cents)
        }
        await Bun.sleep(pick(600))
        await expectNoFalseEnd(rig, database)
        await rig.kill()
        await start()
      }
      node.lie(undefined)
      node.refuse(undefined)
      await settled(rig, database)
      await expectNoFalseEnd(rig, database)
      expect(await Promise.all(wallets.map((wallet) => rig.balanceOf(wallet)))).toEqual(expected)
    } finally {
      await rig.stop()
      await node.stop()
      await database.close()
    }
  },
  60_000 + kills * 12_000 + settleMs,
)

type Ended = { readonly status: string; readonly hash: string | null }

/** Every end that stands is the chain's own. */
const expectNoFalseEnd = async (rig: Rig, { sql }: TestDatabase): Promise<void> => {
  const ended = await sql<Ended[]>`
    select status, coalesce(mined_hash, hash) as hash from drex_transactions
    where status in ('confirmed', 'reverted', 'failed', 'cancelled')`
  for (const { status, hash } of ended) {
    expect(status).toBe('confirmed')
    const outcome = await rig.chain.request('eth_getTransactionReceipt', [hash])
    expect(outcome).toMatchObject({ result: { status: '0x1' } })
  }
}

const settled = async (rig: Rig, { sql }: TestDatabase): Promise<void> => {
  const deadline = performance.now() + settleMs
  for (;;) {
    const [open] = await sql<{ count: number }[]>`
      select count(*)::int as count from drex_transactions where status <> 'confirmed'`
    if (open?.count === 0) return
    if (performance.now() > deadline) {
      const left =
        await sql`select status, error from drex_transactions where status <> 'confirmed'`
      throw new Error(`not settled at ${rig.url}: ${JSON.stringify(left)}`)
    }
    await Bun.sleep(100)
  }
}
