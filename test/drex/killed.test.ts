/** A gateway that is killed between doing something and saying so: the same key never does it twice. */
import { afterAll, expect, test } from 'bun:test'
import { createTestDatabase } from '../support/database.ts'
import { createRig } from '../support/drex-rig.ts'
import { until } from '../support/until.ts'

const engineOff = { DREX_ENGINE_ENABLED: 'false' }

const database = await createTestDatabase()
const rig = await createRig(database.dsn)
afterAll(async () => {
  await rig.stop()
  await database.close()
})

type Request = { readonly path: string; readonly body: object; readonly key: string }

const post = ({ path, body, key }: Request) =>
  rig.call('POST', path, body, { 'Idempotency-Key': key })

const count = async (table: string, where = 'true'): Promise<number> => {
  const [row] = await database.sql<{ count: number }[]>`
    select count(*)::int as count from ${database.sql(table)} where ${database.sql.unsafe(where)}`
  return row?.count ?? 0
}

/** Kills the gateway once the request has left its mark in the database, answered or not. */
const killOnce = async (request: Request, isDone: () => Promise<boolean>): Promise<void> => {
  const lost = post(request).catch(() => undefined)
  await until(isDone)
  await rig.kill()
  await lost
}

test('a deployment, a call and a wallet are each there once after a kill and a repetition', async () => {
  await rig.start(engineOff)
  const deployment = {
    path: '/v1/contracts/deploy',
    key: 'deploy',
    body: {
      template: 'tokenized_asset',
      params: { name: 'Debênture', symbol: 'DEB', total_supply: '10.00', decimals: 2 },
    },
  }
  // The currency of the settings is registered, too.
  const deployments = () => count('drex_contracts', 'template is not null')
  // Without an engine the answer waits for an address that does not come.
  await killOnce(deployment, async () => (await deployments()) === 1)

  await rig.start()
  const deployed = await post(deployment)
  expect(deployed.status).toBe(202)
  const { contract_id, address } = deployed.json as { contract_id: string; address: string }
  expect(address).toMatch(/^0x[0-9a-fA-F]{40}$/)
  expect(await deployments()).toBe(1)
  expect(await count('drex_transactions', "kind = 'deploy'")).toBe(1)
  const [kept] = await database.sql<{ id: string }[]>`
    select id from drex_contracts where template is not null`
  expect(kept?.id).toBe(contract_id)

  const [ana = ''] = await rig.wallets(1, 1_000n)
  const { token } = rig.issuer
  const approval = {
    path: `/v1/contracts/${token}/call`,
    key: 'call',
    body: { function: 'approve', params: [ana, '5'], signer_wallet: ana },
  }
  const calls = () => count('drex_transactions', "kind = 'call'")
  await killOnce(approval, async () => (await calls()) === 1)

  const wallet = { path: '/v1/wallets', key: 'wallet', body: { type: 'managed', label: 'once' } }
  const wallets = () => count('drex_wallets', "label = 'once'")
  await rig.start()
  await killOnce(wallet, async () => (await wallets()) === 1)

  await rig.start()
  const [called, created] = [await post(approval), await post(wallet)]
  expect([called.status, created.status]).toEqual([200, 201])
  expect([await calls(), await wallets()]).toEqual([1, 1])
  const [row] = await database.sql<{ id: string }[]>`
    select id from drex_wallets where label = 'once'`
  expect(created.json as object).toMatchObject({ wallet_id: row?.id })
}, 60_000)

test('killed before the commit: nothing is there, and the key is free', async () => {
  const { sql } = database
  await sql`
    create function hold_answer() returns trigger language plpgsql as $$
      begin perform pg_sleep(3); return new; end $$`
  await sql`
    create trigger hold_answer before update on idempotency_keys
      for each row execute function hold_answer()`
  const wallet = { path: '/v1/wallets', key: 'early', body: { type: 'managed', label: 'early' } }
  await killOnce(wallet, async () => {
    const [held] = await sql<{ count: number }[]>`
      select count(*)::int as count from pg_stat_activity
      where datname = current_database() and wait_event = 'PgSleep'`
    return held?.count === 1
  })
  await sql`drop trigger hold_answer on idempotency_keys`
  expect(await count('drex_wallets', "label = 'early'")).toBe(0)
  await rig.start()
  await until(async () => (await post(wallet)).status === 201)
  expect(await count('drex_wallets', "label = 'early'")).toBe(1)
}, 60_000)
