import { expect, test } from 'bun:test'
import { seeded } from '../support/contract-bench.ts'
import { createTestDatabase } from '../support/database.ts'
import { createRig, type Rig } from '../support/drex-rig.ts'
import { seed } from '../support/seed.ts'

/** The long lane kills a hundred times; the ordinary one often enough to hit every step. */
const kills = process.env['TRILHO_LONG'] === '1' ? 100 : 6
const perKill = 12
const walletCount = 6
const blockTimeMs = 100
const fundsCents = 10_000_000n
const settleMs = 60_000

type Payment = {
  readonly key: string
  readonly from: number
  readonly to: number
  readonly cents: number
}

test(
  `${kills} kills at random points, faults of every kind and a reorganisation: the money adds up (seed ${seed})`,
  async () => {
    const pick = seeded(seed)
    const database = await createTestDatabase(2)
    const rig = await createRig(database.dsn, {
      chain: { mining: blockTimeMs, random: () => pick(1_000_000) / 1_000_000 },
      env: {
        DREX_TESTNET_BLOCK_TIME_MS: String(blockTimeMs),
        DREX_TESTNET_CONFIRMATIONS: '8',
      },
    })
    try {
      await rig.start()
      const wallets = await rig.wallets(walletCount, fundsCents)
      const payments: Payment[] = []
      for (let kill = 0; kill < kills; kill++) {
        rig.chain.faults.set(
          (
            [
              'unavailable',
              'lost_reply',
              'internal_error',
              'rate_limited',
              'dropped',
              'garbage',
              'known',
            ] as const
          ).map((kind) => ({ kind, method: 'eth_sendRawTransaction', probability: 0.04 })),
        )
        const killed = killSoon(rig, pick(400))
        const round = Array.from({ length: perKill }, (_, i): Payment => {
          const from = pick(walletCount)
          return {
            key: `k-${kill}-${i}`,
            from,
            to: (from + 1 + pick(walletCount - 1)) % walletCount,
            cents: 1 + pick(5_000),
          }
        })
        payments.push(...round)
        await Promise.all(round.map((payment) => attempt(rig, wallets, payment)))
        await killed
        if (kill === Math.floor(kills / 2)) await reorganise(rig)
        await rig.start()
      }
      rig.chain.faults.set([])
      // Every payment is asked for again by its key, as a caller would who never learnt the outcome.
      for (const payment of payments) {
        while (!(await attempt(rig, wallets, payment))) await Bun.sleep(100)
      }
      await settled(rig)
      await expectBooks(rig, wallets, payments)
      const [count] = await database.sql<{ transfers: number; keys: number }[]>`
      select (select count(*)::int from drex_transfers) as transfers,
        (select count(*)::int from idempotency_keys) as keys`
      expect(count).toEqual({ transfers: payments.length, keys: payments.length })
    } finally {
      await rig.stop()
      await database.close()
    }
  },
  60_000 + kills * 12_000 + settleMs,
)

const killSoon = async (rig: Rig, ms: number): Promise<void> => {
  await Bun.sleep(ms)
  await rig.kill()
}

/** @returns whether the gateway answered that it has it */
const attempt = async (
  rig: Rig,
  wallets: readonly string[],
  payment: Payment,
): Promise<boolean> => {
  const { key, from, to, cents } = payment
  const amount = `${Math.floor(cents / 100)}.${String(cents % 100).padStart(2, '0')}`
  const body = { from_wallet: wallets[from], to_wallet: wallets[to], amount }
  try {
    const { status } = await rig.call('POST', '/v1/drex/transfers', body, {
      'Idempotency-Key': key,
    })
    return status === 202
  } catch {
    return false
  }
}

/** Blocks go and others come, fewer than make a transfer final, under a gateway that runs. */
const reorganise = async (rig: Rig): Promise<void> => {
  await rig.start()
  await rig.chain.markFork()
  await Bun.sleep(2 * blockTimeMs)
  await rig.chain.reorg()
  await rig.kill()
}

const settled = async (rig: Rig): Promise<void> => {
  const deadline = performance.now() + settleMs
  for (const status of ['pending', 'signed', 'broadcast', 'mined']) {
    for (;;) {
      const { json } = await rig.call('GET', `/v1/drex/transfers?status=${status}&limit=1`)
      if ((json as { transfers: readonly unknown[] }).transfers.length === 0) break
      if (performance.now() > deadline) throw new Error(`transfers stay ${status}`)
      await Bun.sleep(100)
    }
  }
}

/** What each wallet has is what the requests say, to the cent. */
const expectBooks = async (
  rig: Rig,
  wallets: readonly string[],
  payments: readonly Payment[],
): Promise<void> => {
  for (const status of ['failed', 'reverted', 'cancelled']) {
    const { json } = await rig.call('GET', `/v1/drex/transfers?status=${status}`)
    expect((json as { transfers: readonly unknown[] }).transfers).toEqual([])
  }
  const expected = wallets.map(() => fundsCents)
  for (const { from, to, cents } of payments) {
    expected[from]! -= BigInt(cents)
    expected[to]! += BigInt(cents)
  }
  const actual = await Promise.all(wallets.map((wallet) => rig.balanceOf(wallet)))
  expect(actual).toEqual(expected)
}
