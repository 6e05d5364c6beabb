/** One address may lead to several nodes, one of which is behind: what it says of a step counts only with what that stands on. */
import { afterEach, expect, test } from 'bun:test'
import { Interface } from 'ethers'
import type { Hex } from '../../src/drex/evm/hex.ts'
import { createdAddress } from '../../src/drex/evm/transaction.ts'
import { loadArtifact } from '../../src/drex/templates/index.ts'
import type { Lie } from './lying-node.ts'
import { type Bench, createBench, currencyAbi } from './support.ts'

let bench: Bench
afterEach(() => bench.stop())

type Lien = {
  readonly lien_id: string
  readonly status: string
  readonly steps: readonly { readonly kind: string; readonly status: string }[]
}

/** @param lieOf told of each question about the lien's contract, or the allowance that it has */
const create = async (
  amount: string,
  lieOf: (contract: Hex) => Lie,
): Promise<() => Promise<Lien>> => {
  bench = await createBench({ isLying: true })
  const [owner, beneficiary] = [await bench.wallet(10_000n), await bench.wallet(0n)]
  const contract = createdAddress(owner, 0)
  await bench.admin.currency('enableAccount', contract)
  bench.node.lie(lieOf(contract))
  const terms = { owner_wallet: owner, beneficiary, amount, expiry: '2099-01-01T00:00:00Z' }
  const { json, status } = await bench.call('POST', '/v1/drex/liens', terms)
  expect(status).toBe(202)
  const { lien_id: id } = json as Lien
  return async () => (await bench.call('GET', `/v1/drex/liens/${id}`)).json
}

const dataOf = ([call]: readonly unknown[]) => (call as { readonly data?: string }).data ?? ''

const once = (isAbout: (method: string, params: readonly unknown[]) => boolean, lie: Lie): Lie => {
  let isTold = false
  return (call, answer) => {
    if (isTold || !isAbout(call.method, call.params)) return undefined
    isTold = true
    return lie(call, answer)
  }
}

const pledge = async (): Promise<string> =>
  new Interface((await loadArtifact('lien')).abi as never).getFunction('pledge')!.selector

const reverted = { error: { code: 3, message: 'execution reverted', data: '0x' } }

for (const [what, method, lie] of [
  ['it refuses', 'eth_call', () => reverted],
  ['it has no contract', 'eth_getCode', () => ({ result: '0x' })],
] as const) {
  test(`a step without the one before it: ${what}`, async () => {
    const selector = await pledge()
    const read = await create('50.00', (contract) =>
      once(
        (asked, params) =>
          asked === method &&
          (method === 'eth_getCode' ? params[0] === contract : dataOf(params).startsWith(selector)),
        lie,
      ),
    )
    await bench.until(async () => ['active', 'failed'].includes((await read()).status))
    expect((await read()).status).toBe('active')
  }, 60_000)
}

test('an allowance that it has not yet is taken back', async () => {
  const allowance = currencyAbi.getFunction('allowance')!.selector
  const read = await create('500.00', () =>
    once(
      (asked, params) => asked === 'eth_call' && dataOf(params).startsWith(allowance),
      () => ({ result: `0x${'00'.repeat(32)}` }),
    ),
  )
  const revoked = async () => (await read()).steps.find(({ kind }) => kind === 'revoke')?.status
  await bench.until(async () => ['confirmed', 'cancelled'].includes((await revoked()) ?? ''))
  expect(await revoked()).toBe('confirmed')
}, 60_000)
