import { expect, test } from 'bun:test'
import { createProver } from '../../src/drex/engine/prover.ts'
import type { Hex } from '../../src/drex/evm/hex.ts'
import { RpcFailure } from '../../src/drex/rpc/errors.ts'
import { quietLogger } from '../support/database.ts'

test('a block that is told and not proven is left alone for twice as long as that took', async () => {
  const looks = { told: 0, unproven: 0 }
  let isTold = true
  const rpc = {
    async call(_: string, hash: Hex) {
      looks.told++
      await Bun.sleep(100)
      return isTold ? { hash, transactions: [] } : null
    },
    turn: () => {},
    pollBatch: async () => [],
  }
  const prover = createProver({
    network: { id: 'drex_testnet', validators: [] } as never,
    rpc: rpc as never,
    logger: quietLogger,
    onUnproven: () => looks.unproven++,
  })
  const prove = (digit: string) => prover.prove(`0x${digit.repeat(64)}`)
  expect([await prove('1'), await prove('1'), await prove('1')]).toEqual([
    undefined,
    undefined,
    undefined,
  ])
  expect(looks).toEqual({ told: 1, unproven: 1 })
  // Another rests for itself.
  await prove('2')
  expect(looks.told).toBe(2)
  await Bun.sleep(500)
  await prove('1')
  expect(looks).toEqual({ told: 3, unproven: 3 })
  // Nodes that are away are asked again at once when they are back.
  isTold = false
  await prove('3')
  await prove('3')
  expect(looks).toEqual({ told: 5, unproven: 5 })
})

for (const [what, kind, asked] of [
  ['a block whose receipts no node tells is asked for again at once', 'unreachable', 2],
  ['a block whose receipts are more than is read is left alone', 'too_large', 1],
] as const) {
  test(what, async () => {
    let looks = 0
    const prover = createProver({
      network: { id: 'drex_testnet', validators: [] } as never,
      rpc: {
        async call(method: string, hash: Hex) {
          if (method !== 'eth_getBlockByHash') throw new RpcFailure(kind, '')
          looks++
          await Bun.sleep(100)
          return { hash, transactions: [hash] }
        },
        async batch() {
          throw new RpcFailure(kind, '')
        },
        turn: () => {},
        pollBatch: async () => [],
      } as never,
      logger: quietLogger,
      onUnproven: () => {},
    })
    for (let i = 0; i < 2; i++) await prover.prove(`0x${'1'.repeat(64)}`)
    expect(looks).toBe(asked)
  })
}
