/** Liens that another has made, followed from what the chain will not take back. */
import { expect, test } from 'bun:test'
import { Interface } from 'ethers'
import type { Hex } from '../../src/drex/evm/hex.ts'
import { loadArtifact } from '../../src/drex/templates/index.ts'
import { adminAddress, benchOfFile } from './support.ts'

const confirmations = 4
const path = '/v1/drex/liens'

const bench = await benchOfFile({
  chain: { mining: 'manual' },
  env: { DREX_TESTNET_CONFIRMATIONS: String(confirmations) },
})

const mine = async (count: number): Promise<void> => {
  for (let i = 0; i < count; i++) await bench.chain.mine()
}

test('what it says without confirmations is neither believed nor missed', async () => {
  const beneficiary = await bench.wallet(0n)
  const { admin } = bench
  const { abi, bytecode } = await loadArtifact('lien')
  const lien = new Interface(abi as never)
  const expiry = Math.floor(Date.now() / 1_000) + 86_400
  const hash = `0x${'11'.repeat(32)}`
  const terms = lien.encodeDeploy([admin.token, adminAddress, beneficiary, hash, expiry])
  const contract = (await admin.send(undefined, bytecode + terms.slice(2)))! as Hex
  const adopt = async () => {
    const body = { contract, wallet: beneficiary }
    const { status, json } = await bench.call('POST', `${path}/adopt`, body)
    return [status, json as { lien_id: string; status: string; pledged: string }] as const
  }
  await mine(confirmations - 2)
  expect(await adopt()).toEqual([
    409,
    { error: expect.objectContaining({ code: 'LIEN_NOT_READY' }) } as never,
  ])
  await mine(1)
  for (const each of [adminAddress, contract]) await admin.currency('enableAccount', each)
  await admin.currency('mint', adminAddress, 500n)
  await admin.currency('approve', contract, 500n)
  await mine(confirmations)
  await admin.send(contract, lien.encodeFunctionData('pledge', [500n]))
  const [status, { lien_id, ...made }] = await adopt()
  expect([status, made.status, made.pledged]).toEqual([201, 'pending', '0.00'])
  const read = async () =>
    (await bench.call('GET', `${path}/${lien_id}`)).json as { status: string; pledged: string }
  await mine(confirmations - 2)
  await Bun.sleep(500)
  expect((await read()).status).toBe('pending')
  await mine(1)
  await bench.until(async () => (await read()).status === 'active')
  expect((await read()).pledged).toBe('5.00')
}, 60_000)
