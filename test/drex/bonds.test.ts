/** Bonds against money through the gateway: deployed from templates, commanded by both sides, settled by the second. */
import { expect, test } from 'bun:test'
import type { Hex } from '../../src/drex/evm/hex.ts'
import { benchOfFile } from './support.ts'

const bench = await benchOfFile()
const ana = await bench.wallet(0n)
const bia = await bench.wallet(10_000_000n)

const ltn = { acronym: 'LTN', code: '100000', maturityDate: '4102444800' }

const deployed = async (template: string, params: object): Promise<Hex> => {
  const { status, json } = await bench.call('POST', '/v1/contracts/deploy', { template, params })
  const { address } = json as { address: Hex }
  expect([template, status]).toEqual([template, 202])
  await bench.until(async () => {
    const { json: read } = await bench.call('GET', `/v1/contracts/${address}`)
    return (read as { status: string }).status === 'deployed'
  })
  return address
}

const called = async (
  contract: Hex,
  name: string,
  params: unknown,
  signer?: Hex,
): Promise<unknown> => {
  const { status, json } = await bench.call('POST', `/v1/contracts/${contract}/call`, {
    function: name,
    params,
    ...(signer === undefined ? {} : { signer_wallet: signer }),
  })
  expect([name, status, json as object]).toEqual([name, 200, expect.anything()])
  const { transaction_id, result } = json as { transaction_id?: string; result?: unknown }
  if (transaction_id === undefined) return result
  await bench.until(async () => {
    const [row] = await bench.database.sql<{ status: string }[]>`
      select status from drex_transactions where id = ${transaction_id}`
    return row?.status === 'confirmed'
  })
  return undefined
}

test('neither half moves before both sides have commanded it, and both do then', async () => {
  const bond = await deployed('tokenized_bond', { authority: ana })
  const delivery = await deployed('bond_delivery', { bond })
  await called(bond, 'createTPFt', { data: ltn }, ana)
  for (const each of [ana, bia]) await called(bond, 'enableAddress', { account: each }, ana)
  await called(bond, 'mint(address,uint256,uint256)', [ana, '1', '10000'], ana)
  await called(bond, 'setApprovalForAll', { operator: delivery, approved: true }, ana)
  await called(bench.admin.token, 'approve', { spender: delivery, value: '9941234' }, bia)
  const trade = (part: string) => ['20261122000001', ana, bia, part, ltn, '1000', '994123456789']
  await called(delivery, 'trade', trade('0'), ana)
  expect([await called(bond, 'balanceOf', [bia, '1']), await bench.balance(ana)]).toEqual([
    ...['0', 0n],
  ] as never)
  await called(delivery, 'trade', trade('1'), bia)
  expect([await called(bond, 'balanceOf', [bia, '1']), await bench.balance(ana)]).toEqual([
    ...['1000', 9_941_234n],
  ] as never)
  expect(await bench.balance(bia)).toBe(10_000_000n - 9_941_234n)
}, 60_000)
