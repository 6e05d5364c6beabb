/** What docs/operation.md says of transfers that waited to be signed when a copy was made, and were sent after it. */
import { expect, setDefaultTimeout, test } from 'bun:test'
import postgres from 'postgres'
import { commandHere } from '../support/command-here.ts'
import { createTestDatabase } from '../support/database.ts'
import { createRig, type Rig } from '../support/drex-rig.ts'
import { until } from '../support/until.ts'

setDefaultTimeout(120_000)

const withoutEngine = { DREX_ENGINE_ENABLED: 'false' }

const transfer = async (rig: Rig, [from, to]: readonly string[], amount: string) => {
  const body = { from_wallet: from, to_wallet: to, amount, reference: 'restored' }
  const { json } = await rig.call('POST', '/v1/drex/transfers', body)
  return (json as { readonly transfer_id: string }).transfer_id
}

const isConfirmed = async (rig: Rig, id: string): Promise<boolean> => {
  const { json } = await rig.call('GET', `/v1/drex/transfers/${id}`)
  return (json as { readonly status: string }).status === 'confirmed'
}

/** A copy of a database that nobody works on. */
const copyOf = async (dsn: string): Promise<string> => {
  const name = new URL(dsn).pathname.slice(1)
  const admin = postgres(dsn.replace(/[^/]*$/, 'postgres'), { max: 1, onnotice: () => {} })
  // Sessions of a process that was killed end a moment after it.
  await until(async () => {
    await admin`select pg_terminate_backend(pid) from pg_stat_activity where datname = ${name}`
    const made =
      await admin`create database ${admin(`${name}_copy`)} template ${admin(name)}`.catch(
        () => undefined,
      )
    return made !== undefined
  })
  await admin.end()
  return `${dsn}_copy`
}

test('what was sent after a copy is found by the copy, and not paid again once it is cancelled there', async () => {
  const database = await createTestDatabase(1)
  await database.close()
  const rig = await createRig(database.dsn)
  await using _rig = { [Symbol.asyncDispose]: rig.stop }
  await rig.start(withoutEngine)
  const wallets = await rig.wallets(2, 100_000n)
  const open = await transfer(rig, wallets, '10.00')
  await rig.kill()
  const copy = { DATABASE_DSN: await copyOf(database.dsn) }
  await rig.start()
  await until(() => isConfirmed(rig, open))
  await rig.kill()

  const { out } = await commandHere(['backup-check', '--quick'], { ...rig.env, ...copy })
  expect(out).toContain('POST /v1/drex/transfers/{id}/cancel')
  await rig.start({ ...copy, ...withoutEngine })
  const { status } = await rig.call('POST', `/v1/drex/transfers/${open}/cancel`)
  expect(status).toBe(200)
  const engine = await rig.peer(copy)
  const next = await transfer(rig, wallets, '1.00')
  await until(() => isConfirmed(rig, next))
  await engine.stop()
  expect(await rig.balanceOf(wallets[1] ?? '')).toBe(101_100n)
})
