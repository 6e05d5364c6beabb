import { expect, test } from 'bun:test'
import type { AttemptFees } from '../../src/drex/domain.ts'
import { currentFees, nextFees } from '../../src/drex/engine/fees.ts'
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

const feesAt = (base: bigint, tip: bigint): Promise<AttemptFees | undefined> =>
  currentFees('eip1559', asked(base, tip), limits)

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
      fees = nextFees('eip1559', { ...fees, gasLimit: 100_000n }, await feesAt(1n, 1n), limits)
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
