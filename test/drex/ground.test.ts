/** A step is judged by what the steps before it made. While that is off the chain, no answer about the step counts. */
import { afterEach, expect, test } from 'bun:test'
import { Interface } from 'ethers'
import type { Hex } from '../../src/drex/evm/hex.ts'
import { createdAddress } from '../../src/drex/evm/transaction.ts'
import lienArtifact from '../../src/drex/templates/lien/generated/Lien.json'
import type { RpcOutcome } from '../../src/simulators/chain/engine.ts'
import { type Bench, createBench, currencyAbi } from './support.ts'

type Lien = {
  readonly lien_id: string
  readonly status: string
  readonly pledged: string
  readonly error: { readonly code: string } | null
  readonly steps: readonly { readonly kind: string; readonly status: string }[]
}

let bench: Bench
let mining: Promise<void> | undefined
afterEach(async () => {
  const ending = mining
  mining = undefined
  await ending
  await bench.stop()
})

const selector = (name: string): string => currencyAbi.getFunction(name)!.selector

const pledge = new Interface(lienArtifact.abi).getFunction('pledge')!.selector

/**
 * Has the chain go back behind the lien’s deployment while the gateway asks about a step, and make blocks from then on.
 * @param isAbout whether a question of the gateway is about the step
 */
const lienThatLosesItsGround = async (
  amount: string,
  isAbout: (method: string, call: { readonly to?: Hex; readonly data?: Hex }, lien: Hex) => boolean,
): Promise<{ readonly id: string; readonly contract: Hex; readonly owner: Hex }> => {
  bench = await createBench({ isLying: true, chain: { mining: 'manual' } })
  const [owner, beneficiary] = [await bench.wallet(10_000n), await bench.wallet(0n)]
  const contract = createdAddress(owner, 0)
  await bench.admin.currency('enableAccount', contract)
  const snapshot = (await bench.chain.request('evm_snapshot')) as { readonly result: unknown }
  let isGone = false
  let isBusy = false
  bench.node.lie(async ({ method, params }, answer): Promise<RpcOutcome | undefined> => {
    const [first] = params
    const call = (method === 'eth_getCode' ? { to: first } : first) as { to?: Hex; data?: Hex }
    if (isGone || !isAbout(method, call ?? {}, contract)) return undefined
    isGone = true
    isBusy = true
    await bench.chain.request('evm_revert', [snapshot.result])
    await bench.chain.request('evm_increaseTime', [1])
    const told = await answer()
    isBusy = false
    return told
  })
  const run = async (): Promise<void> => {
    while (mining !== undefined) {
      if (!isBusy) await bench.chain.mine()
      await Bun.sleep(60)
    }
  }
  const terms = { owner_wallet: owner, beneficiary, amount, expiry: '2099-01-01T00:00:00Z' }
  const { json, status } = await bench.call('POST', '/v1/drex/liens', terms)
  expect(status).toBe(202)
  mining = Promise.resolve()
  mining = run()
  await bench.until(async () => isGone)
  return { id: (json as Lien).lien_id, contract, owner }
}

const read = async (id: string): Promise<Lien> =>
  (await bench.call('GET', `/v1/drex/liens/${id}`)).json

const allowance = async (owner: Hex, contract: Hex): Promise<bigint> => {
  const data = currencyAbi.encodeFunctionData('allowance', [owner, contract])
  const told = await bench.chain.request('eth_call', [{ to: bench.admin.token, data }, 'latest'])
  return BigInt((told as { readonly result: string }).result)
}

for (const [what, method] of [
  ['there seems to be no contract', 'eth_getCode'],
  ['a call of nothing needs hardly any gas', 'eth_estimateGas'],
] as const) {
  test(`a pledge whose contract left the chain as it was asked about: ${what}; it comes about`, async () => {
    const { id, contract } = await lienThatLosesItsGround(
      '50.00',
      (asked, { to, data }, lien) =>
        asked === method && to === lien && (data === undefined || data.startsWith(pledge)),
    )
    await bench.until(async () => ['active', 'failed'].includes((await read(id)).status))
    const { status, pledged, error } = await read(id)
    expect([status, pledged, error]).toEqual(['active', '50.00', null])
    expect(await bench.balance(contract)).toBe(5_000n)
  }, 60_000)
}

test('an allowance that left the chain as it was asked about is taken back all the same', async () => {
  const { id, contract, owner } = await lienThatLosesItsGround(
    '500.00',
    (asked, { data }) => asked === 'eth_call' && data?.startsWith(selector('allowance')) === true,
  )
  await bench.until(async () => {
    const { steps } = await read(id)
    return steps.every(
      ({ status }) => !['pending', 'signed', 'broadcast', 'mined'].includes(status),
    )
  })
  await bench.until(async () => (await read(id)).status === 'failed')
  expect(await allowance(owner, contract)).toBe(0n)
  expect((await read(id)).steps.map(({ kind, status }) => [kind, status])).toEqual([
    ['deploy', 'confirmed'],
    ['approve', 'confirmed'],
    ['pledge', 'failed'],
    ['revoke', 'confirmed'],
  ])
}, 60_000)

test('code that was seen is asked for again once the chain has changed', async () => {
  bench = await createBench({ isLying: true, chain: { mining: 'manual' } })
  const [ana, bia] = [await bench.wallet(10_000n), await bench.wallet(0n)]
  const snapshot = (await bench.chain.request('evm_snapshot')) as { readonly result: unknown }
  const first = await bench.pay(ana, bia)
  await bench.until(async () => (await bench.read(first)).status === 'broadcast')
  await bench.chain.mine()
  await bench.until(async () => (await bench.read(first)).status === 'confirmed')
  await bench.chain.request('evm_revert', [snapshot.result])
  await bench.chain.request('evm_increaseTime', [1])
  for (let i = 0; i < 3; i++) await bench.chain.mine()
  await bench.until(async () => (await bench.read(first)).corrections.length > 0)
  bench.node.lie(({ method, params: [at] }) => {
    const call = at as { readonly data?: string } | undefined
    const isPayment = method === 'eth_call' && call?.data?.startsWith(selector('transfer'))
    return method === 'eth_getCode' || isPayment ? { result: '0x' } : undefined
  })
  const second = await bench.pay(ana, bia)
  await bench.until(async () => !['pending', 'signed'].includes((await bench.read(second)).status))
  const { status, error } = await bench.read(second)
  expect([status, error?.code]).toEqual(['failed', 'NO_CONTRACT'])
}, 60_000)
