import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { bloomBits, mayHold } from '../../../src/drex/evm/bloom.ts'
import type { Hex } from '../../../src/drex/evm/hex.ts'
import { placeBefore } from '../../../src/drex/ledger/following.ts'
import { type Anchor, closeAnchors, withAnchor, withPage } from '../../../src/drex/ledger/place.ts'
import { createChain } from '../../../src/simulators/chain/index.ts'
import { createAdmin } from '../support.ts'

test('where no anchor is left, reading goes back to where it began, also if an earlier release began it', async () => {
  const gone = {
    network: { proofs: false, validators: [] },
    rpc: {
      batch: async (all: readonly unknown[]) => all.map(() => ({ result: null })),
      poll: async () => [],
    },
  } as unknown as Parameters<typeof placeBefore>[0]
  const back = async (anchors: readonly Anchor[], start?: number) =>
    (await placeBefore(gone, { number: 9, hash: '0x9' }, anchors, start)).place.number
  const page = { before: { number: 4, hash: '0x4' }, last: { number: 9, hash: '0x9' } } as const
  expect(await back(withPage([], page))).toBe(4)
  expect(await back([{ number: 6, hash: '0x6' }])).toBe(5)
  expect(await back([{ number: 6, hash: '0x6' }], 2)).toBe(2)
})

test('anchors stay few, and wherever the chain parts, one is not twice as far behind as needed', () => {
  const steps = fc.array(fc.integer({ min: 1, max: 10_000 }), { minLength: 1, maxLength: 400 })
  fc.assert(
    fc.property(steps, (sizes) => {
      let anchors: readonly Anchor[] = []
      let number = 0
      const read: number[] = []
      for (const size of sizes) {
        number += size
        read.push(number)
        anchors = withAnchor(anchors, { number, hash: `0x${number}` })
      }
      expect(anchors.at(-1)?.number).toBe(number)
      expect(anchors.length).toBeLessThan(closeAnchors + 2 * 32)
      expect(anchors.map((each) => each.number)).toEqual(
        anchors.map((each) => each.number).toSorted((a, b) => a - b),
      )
      // The block that was read last before the fork, and the anchor that is found instead of it.
      for (const last of read) {
        const found = anchors.findLast((each) => each.number <= last)?.number ?? 0
        expect(number - found).toBeLessThanOrEqual(Math.max(1, number - last) * 2 + 10_000 * 2)
      }
    }),
    { numRuns: 30, seed: 7 },
  )
})

test('the filter of a block’s header tells of the addresses and topics that the block has', async () => {
  const chain = await createChain({ mining: 'manual' })
  try {
    const admin = await createAdmin(chain)
    await admin.currency('enableAccount', `0x${'ab'.repeat(20)}`)
    const block = (await chain.request('eth_getBlockByNumber', ['latest', false])) as {
      result: { logsBloom: Hex }
    }
    const { logsBloom } = block.result
    expect(mayHold(logsBloom, [bloomBits(admin.token)])).toBe(true)
    expect(mayHold(logsBloom, [bloomBits(`0x${'cd'.repeat(20)}`)])).toBe(false)
    expect(mayHold(logsBloom, [])).toBe(false)
    expect(mayHold(`0x${'00'.repeat(256)}`, [bloomBits(admin.token)])).toBe(false)
  } finally {
    await chain.stop()
  }
})
