import { expect, test } from 'bun:test'
import { Interface } from 'ethers'
import type { Hex } from '../../src/drex/evm/hex.ts'
import { encodeTransactionAllowed } from '../../src/drex/evm/token-call.ts'
import { allowedMs, createPermission } from '../../src/drex/permission.ts'
import type { RpcClient, RpcOutcome } from '../../src/drex/rpc/client.ts'
import { RpcFailure } from '../../src/drex/rpc/errors.ts'
import rulesArtifact from '../../src/simulators/chain/contracts/generated/AccountRules.json'

const address = (byte: string): Hex => `0x${byte.repeat(20)}`
const rules = address('aa')
const word = (value: number): string => `0x${String(value).padStart(64, '0')}`

test('the question is encoded as the ABI says, whatever the length of the payload', () => {
  const abi = new Interface(rulesArtifact.abi)
  for (const bytes of [0, 1, 31, 32, 33, 68]) {
    const payload: Hex = `0x${'5c'.repeat(bytes)}`
    expect(encodeTransactionAllowed(address('01'), address('02'), payload)).toBe(
      abi.encodeFunctionData('transactionAllowed', [
        address('01'),
        address('02'),
        0,
        0,
        0,
        payload,
      ]) as Hex,
    )
  }
})

/** A node that answers every call the same way, and counts. */
const answering = (outcome: () => RpcOutcome) => {
  const seen: number[] = []
  const batch = async (requests: readonly unknown[]) => {
    seen.push(requests.length)
    return requests.map(outcome)
  }
  return { seen, rpc: { batch } as unknown as RpcClient }
}

const asked = (sender: string, target: Hex | undefined = address('02')) => ({
  sender: address(sender),
  target,
  payload: '0x' as Hex,
})

test('a permission is kept for a while, a refusal never; each pair is asked once', async () => {
  let nowMs = 0
  let answer = word(1)
  const { seen, rpc } = answering(() => ({ result: answer }))
  const permission = createPermission(rules, rpc, () => nowMs)
  const pair = [asked('01'), asked('01'), asked('03', undefined)]
  expect(await permission.ask(pair)).toEqual(['allowed', 'allowed', 'allowed'])
  answer = word(0)
  nowMs = allowedMs - 1
  expect(await permission.ask(pair)).toEqual(['allowed', 'allowed', 'allowed'])
  expect(seen).toEqual([2])
  nowMs = allowedMs
  expect(await permission.ask(pair)).toEqual(['refused', 'refused', 'refused'])
  answer = word(1)
  expect(await permission.ask([asked('01')])).toEqual(['allowed'])
  expect(seen).toEqual([2, 2, 1])
})

test('no rules, and the rules themselves, need no question; silence decides nothing', async () => {
  const { seen, rpc } = answering(() => ({
    failure: new RpcFailure('unreachable', 'no answer'),
  }))
  expect(await createPermission(undefined, rpc).ask([asked('01')])).toEqual(['allowed'])
  const permission = createPermission(rules, rpc)
  expect(await permission.ask([asked('01', rules)])).toEqual(['allowed'])
  expect(seen).toEqual([])
  expect(await permission.ask([asked('01')])).toEqual(['unknown'])
  // Rules without this question: the node decides.
  const without = answering(() => ({ result: '0x' }))
  expect(await createPermission(rules, without.rpc).ask([asked('01')])).toEqual(['allowed'])
})
