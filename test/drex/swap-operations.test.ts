/** Exchanges that one institution's customer proposes and another's accepts. */
import { expect, test } from 'bun:test'
import { Interface, id } from 'ethers'
import type { Hex } from '../../src/drex/evm/hex.ts'
import { operations } from '../../src/drex/operations/index.ts'
import directoryArtifact from '../../src/drex/templates/address-directory/generated/AddressDirectory.json'
import swapArtifact from '../../src/drex/templates/reserve-swap/generated/ReserveSwap.json'
import retailArtifact from '../../src/drex/templates/retail-currency/generated/RetailCurrency.json'
import { adminAddress, benchOfFile, currencyAbi } from './support.ts'

type OperationBody = {
  readonly operation_id: string
  readonly status: string
  readonly error: { readonly code: string } | null
  readonly result: { readonly proposal_id: string } | null
  readonly steps: readonly { readonly kind: string; readonly status: string }[]
}

const retailAbi = new Interface(retailArtifact.abi)
const swapAbi = new Interface(swapArtifact.abi)
const directoryAbi = new Interface(directoryArtifact.abi)

const deploy = async (artifact: { bytecode: string }, abi: Interface, args: readonly unknown[]) =>
  (await bench.admin.send(undefined, artifact.bytecode + abi.encodeDeploy(args).slice(2)))!

const retailOf = async (cnpj8: number, holder: Hex): Promise<Hex> => {
  const terms = ['Real Tokenizado', `BRL@${cnpj8}`, adminAddress, `Bank ${cnpj8}`, cnpj8, holder]
  const token = await deploy(retailArtifact, retailAbi, terms)
  const send = (name: string, ...args: readonly unknown[]) =>
    bench.admin.send(token, retailAbi.encodeFunctionData(name, args))
  for (const member of [ana, bia, swap]) await send('enableAccount', member)
  for (const role of ['MOVER_ROLE', 'MINTER_ROLE']) await send('grantRole', id(role), swap)
  await bench.admin.send(
    swap,
    swapAbi.encodeFunctionData('setDigitalCurrencyApproval', [token, true]),
  )
  return token
}

const bench = await benchOfFile()
const { token } = bench.admin
const swap = await deploy(swapArtifact, swapAbi, [adminAddress, adminAddress, token])
/** The network's address directory. */
const named = await deploy(directoryArtifact, directoryAbi, [adminAddress])
const entry = directoryAbi.encodeFunctionData('updateAddress', [id('SwapTwoStepsReserve'), swap])
await bench.admin.send(named, entry)
await bench.restart({ DREX_TESTNET_DIRECTORY: named })
await bench.admin.currency('enableAccount', swap)
const reserve = await bench.wallet(10_000n)
const otherReserve = await bench.wallet(0n)
const ana = await bench.wallet(0n)
const bia = await bench.wallet(0n)
const retailA = await retailOf(11_111_111, reserve)
const retailB = await retailOf(22_222_222, otherReserve)
await bench.admin.send(retailA, retailAbi.encodeFunctionData('mint', [ana, 10_000n]))

const read = async (operationId: string) =>
  (await bench.call('GET', `/v1/drex/operations/${operationId}`)).json as OperationBody

const perform = async (operation: string, params: object, signer: Hex) => {
  const { status, json } = await bench.call('POST', '/v1/drex/operations', {
    operation,
    params,
    signer_wallet: signer,
  })
  expect([operation, status, json as object]).toEqual([operation, 202, expect.anything()])
  const { operation_id } = json as OperationBody
  await bench.until(async () =>
    ['confirmed', 'failed', 'reverted'].includes((await read(operation_id)).status),
  )
  return read(operation_id)
}

const terms = (amount: string) => ({
  sender_token: retailA,
  receiver_token: retailB,
  receiver: bia,
  amount,
  reserve_wallet: reserve,
})

const view = async (to: Hex, name: string, ...args: readonly unknown[]): Promise<bigint> => {
  const data = currencyAbi.encodeFunctionData(name, args)
  const outcome = await bench.chain.request('eth_call', [{ to, data }, 'latest'])
  return BigInt((outcome as { result: string }).result)
}

test('proposed, then accepted: the steps show it, and no allowance is left', async () => {
  const proposed = await perform('propose_swap', terms('25.00'), ana)
  expect(proposed.steps.slice(0, 3).map(({ kind, status }) => [kind, status])).toEqual([
    ...[
      ['approve', 'confirmed'],
      ['approve', 'confirmed'],
      ['propose', 'confirmed'],
    ],
  ])
  const { proposal_id = '' } = proposed.result ?? {}
  expect(proposal_id).toMatch(/^[1-9]\d*$/)
  const accepted = await perform('accept_swap', { proposal_id }, bia)
  expect([accepted.status, accepted.result]).toEqual(['confirmed', null])
  expect(await view(retailB, 'balanceOf', bia)).toBe(2_500n)
  expect(await view(bench.admin.token, 'balanceOf', swap)).toBe(0n)
  expect(await view(bench.admin.token, 'allowance', reserve, swap)).toBe(0n)
  expect(await view(retailA, 'allowance', ana, swap)).toBe(0n)
}, 60_000)

test('where blocks prove nothing, an exchange that came about is told as one', async () => {
  const directory = { DREX_TESTNET_DIRECTORY: named }
  await bench.restart({ ...directory, DREX_TESTNET_PROOFS: 'false' })
  const { status, result } = await perform('propose_swap', terms('5.00'), ana)
  expect(status).toBe('confirmed')
  const accepted = await perform('accept_swap', { proposal_id: result?.proposal_id }, bia)
  expect([accepted.status, accepted.error]).toEqual(['confirmed', null])
  await bench.restart(directory)
}, 60_000)

test('accepted too late it has failed, although its transaction succeeded, and all went back', async () => {
  const before = await view(retailA, 'balanceOf', ana)
  const { result } = await perform('propose_swap', terms('10.00'), ana)
  await bench.chain.request('evm_increaseTime', [120])
  const accepted = await perform('accept_swap', { proposal_id: result?.proposal_id }, bia)
  expect([accepted.status, accepted.error?.code]).toEqual(['failed', 'TRANSFER_MISMATCH'])
  expect(await view(retailA, 'balanceOf', ana)).toBe(before)
}, 60_000)

test('cancelled, and several at once from one reserve: each puts down its own sum', async () => {
  const before = await view(bench.admin.token, 'balanceOf', reserve)
  const all = await Promise.all(
    ['1.00', '2.00', '3.00'].map((sum) => perform('propose_swap', terms(sum), ana)),
  )
  expect(all.map(({ status }) => status)).toEqual(all.map(() => 'confirmed'))
  expect(await view(bench.admin.token, 'balanceOf', swap)).toBe(600n)
  for (const [i, { result }] of all.entries()) {
    const params = { proposal_id: result?.proposal_id, reason: 'changed my mind' }
    await perform('cancel_swap', params, i === 0 ? bia : ana)
  }
  expect(await view(bench.admin.token, 'balanceOf', reserve)).toBe(before)
}, 60_000)

test('a proposal beyond what is there fails, and leaves no allowance; foreign reserves are refused', async () => {
  const failed = await perform('propose_swap', terms('99999.00'), ana)
  expect(failed.status).toBe('failed')
  // What it had allowed is taken back behind its failure, each by a transaction.
  await bench.until(async () => (await view(bench.admin.token, 'allowance', reserve, swap)) === 0n)
  await bench.until(async () => (await view(retailA, 'allowance', ana, swap)) === 0n)
  const refused = await bench.call('POST', '/v1/drex/operations', {
    operation: 'propose_swap',
    signer_wallet: ana,
    params: { ...terms('1.00'), reserve_wallet: adminAddress },
  })
  expect(refused.status).toBe(404)
}, 60_000)

test('the number of a proposal is that of ours: of our contract, our parties and our sum', () => {
  const call = {
    sender: ana,
    recipient: swap,
    data: swapAbi.encodeFunctionData('startSwap', [retailA, retailB, bia, 2_500n]) as Hex,
  }
  const told = (proposal: bigint, changes: { [name: string]: unknown } = {}) => {
    const { address, sender, receiver, amount } = {
      address: swap,
      sender: ana,
      receiver: bia,
      amount: 2_500n,
      ...changes,
    }
    const args = [proposal, 11_111_111n, 22_222_222n, sender, receiver, amount]
    return { address, ...swapAbi.encodeEventLog('SwapStarted', args) }
  }
  const resultOf = (...logs: readonly object[]) =>
    operations.propose_swap.resultOf?.({ logs } as never, call)
  const others = [
    told(7n, { address: retailA }),
    told(8n, { sender: bia }),
    told(9n, { receiver: reserve }),
    told(10n, { amount: 2_499n }),
  ]
  for (const other of others) expect(resultOf(other)).toBeUndefined()
  expect(resultOf(...others, told(11n))).toEqual({ proposal_id: '11' })
  // Which of two is ours nobody can tell.
  expect(resultOf(told(11n), told(12n))).toBeUndefined()
})
