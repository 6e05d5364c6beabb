/** Liens that are taken over while the blocks behind them are read: what they tell there is not missed. */
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
const beneficiary = await bench.wallet(0n)
const artifact = await loadArtifact('lien')
const lien = new Interface(artifact.abi as never)
const bytecode = artifact.bytecode
// Somebody was followed once.
await bench.database.sql`
  insert into drex_agreement_positions (network, block_number) values ('drex_testnet', 0)`

const mine = async (count: number): Promise<void> => {
  for (let i = 0; i < count; i++) await bench.chain.mine()
}

/** A lien of somebody else's that may pledge 5.00, deep enough to be taken over. */
const deploy = async (): Promise<Hex> => {
  const { admin } = bench
  const expiry = Math.floor(Date.now() / 1_000) + 86_400
  const terms = [admin.token, adminAddress, beneficiary, `0x${'11'.repeat(32)}`, expiry]
  const contract = (await admin.send(undefined, bytecode + lien.encodeDeploy(terms).slice(2)))!
  for (const each of [adminAddress, contract]) await admin.currency('enableAccount', each)
  await admin.currency('mint', adminAddress, 500n)
  await admin.currency('approve', contract, 500n)
  await mine(confirmations)
  return contract
}

const sessionsThatWait = async (): Promise<number> => {
  const rows = await bench.database.sql`
    select from pg_stat_activity
    where datname = current_database() and wait_event_type = 'Lock'`
  return rows.length
}

for (const what of ['nobody was followed', 'another was followed']) {
  test(`it pledges while it is taken over and ${what} before`, async () => {
    const contract = await deploy()
    await Bun.sleep(1_500)
    const { sql } = bench.database
    const { promise, resolve } = Promise.withResolvers<void>()
    // Its row is the last that is written of it.
    const locked = sql.begin(async (tx) => {
      await tx`lock table drex_agreements in share row exclusive mode`
      await promise
    })
    const adopted = bench.call('POST', `${path}/adopt`, { contract, wallet: beneficiary })
    await bench.until(async () => (await sessionsThatWait()) >= 1)
    await bench.admin.send(contract, lien.encodeFunctionData('pledge', [500n]))
    await mine(confirmations)
    await bench.until(async () => (await sessionsThatWait()) >= 2)
    resolve()
    await locked
    const { status, json } = await adopted
    expect(status).toBe(201)
    const { lien_id: id } = json as { readonly lien_id: string }
    const read = async () =>
      (await bench.call('GET', `${path}/${id}`)).json as { status: string; pledged: string }
    await bench.until(async () => (await read()).status === 'active')
    expect((await read()).pledged).toBe('5.00')
  }, 60_000)
}
