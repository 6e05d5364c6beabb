import { expect, test } from 'bun:test'
import type { AttemptFees } from '../../src/drex/domain.ts'
import { type AskedFees, currentFees, nextFees, offerOf } from '../../src/drex/engine/fees.ts'
import type { RpcClient } from '../../src/drex/rpc/client.ts'

const gwei = 10n ** 9n
const limits = { feeMax: 500n * gwei, tipMax: 50n * gwei, totalMax: 10n ** 17n }

const asked = (base: bigint, tip: bigint): RpcClient => {
  const answers: Readonly<Record<string, unknown>> = {
    eth_maxPriorityFeePerGas: tip * gwei,
    eth_getBlockByNumber: { baseFeePerGas: base * gwei },
  }
  return { call: async (method: string) => answers[method] } as unknown as RpcClient
}

const gasLimit = 100_000n

const askedAt = (base: bigint, tip: bigint): Promise<AskedFees> =>
  currentFees('eip1559', asked(base, tip), limits)

const feesAt = async (base: bigint, tip: bigint): Promise<AttemptFees | undefined> =>
  offerOf(await askedAt(base, tip), gasLimit, limits)

test.each([
  [20n, 60n],
  [20n, 50n],
  [200n, 2n],
  [300n, 1_000n],
])(
  'a first offer where base %p and tip %p are asked can be raised five times',
  async (base, tip) => {
    const current = (await feesAt(base, tip))!
    let fees: AttemptFees | undefined = current
    expect(fees.maxFee).toBeGreaterThanOrEqual(base * gwei + fees.tip)
    const offers = [fees]
    while (fees !== undefined && offers.length <= 5) {
      fees = nextFees('eip1559', { ...fees, gasLimit }, await askedAt(1n, 1n), limits)
      if (fees !== undefined) offers.push(fees)
    }
    const isRoom = current.maxFee * 162n <= limits.feeMax * 100n
    expect(offers.length).toBe(isRoom ? 6 : 5)
    for (const { maxFee, tip: offered } of offers) {
      expect(maxFee).toBeLessThanOrEqual(limits.feeMax)
      expect(offered).toBeLessThanOrEqual(limits.tipMax)
    }
  },
)

test('what the network asks at least is offered up to the limit, and not beyond', async () => {
  expect((await feesAt(470n, 30n))?.maxFee).toBe(limits.feeMax)
  expect((await feesAt(499n, 1n))?.maxFee).toBe(limits.feeMax)
  expect(await feesAt(499n, 2n)).toBeUndefined()
})

test.each([
  [100n, 2n],
  [200n, 2n],
  [280n, 20n],
])(
  'what one transaction may cost leaves room for replacements, where base %p and tip %p are asked',
  async (base, tip) => {
    // At this much gas, one transaction may cost 333 gwei for each unit of it.
    const gasLimit = 300_000n
    const asked = await askedAt(base, tip)
    let fees = offerOf(asked, gasLimit, limits)
    expect(fees?.maxFee).toBeGreaterThanOrEqual((base + tip) * gwei)
    let offers = 0
    while (fees !== undefined && offers <= 5) {
      offers++
      expect(fees.maxFee * gasLimit).toBeLessThanOrEqual(limits.totalMax)
      fees = nextFees('eip1559', { ...fees, gasLimit }, asked, limits)
    }
    expect(offers).toBeGreaterThanOrEqual(2)
  },
)

test('what lasts for some blocks would cost too much: a replacement offers less, as far as a block takes it', async () => {
  const previous = { maxFee: 60n * gwei, tip: 2n * gwei, gasLimit: 1_000_000n }
  // 100 gwei for each unit: twice the base fee is beyond it, the base fee is not.
  const next = nextFees('eip1559', previous, await askedAt(70n, 2n), limits)
  expect(next?.maxFee).toBe(72n * gwei)
  expect(nextFees('eip1559', previous, await askedAt(99n, 2n), limits)).toBeUndefined()
})
