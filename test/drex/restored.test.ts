/** A copy of the database that went on without what was sent after it: nothing is paid twice, nothing told that is not so. */
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

type Shown = {
  readonly status: string
  readonly tx_hash: string | null
  readonly error: { readonly code: string } | null
  readonly corrections: readonly { readonly code: string }[]
}

const read = async (rig: Rig, id: string): Promise<Shown> =>
  (await rig.call('GET', `/v1/drex/transfers/${id}`)).json as Shown

const confirmed = async (rig: Rig, id: string): Promise<Shown> => {
  await until(async () => (await read(rig, id)).status === 'confirmed')
  return read(rig, id)
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

type HeldPage = {
  readonly held: readonly {
    readonly transaction_id: string
    readonly subject: string
    readonly candidates: readonly string[]
  }[]
}

test('what was sent after a copy is found by the copy or held by it, and never paid again', async () => {
  const database = await createTestDatabase(1)
  await database.close()
  const rig = await createRig(database.dsn)
  await using _rig = { [Symbol.asyncDispose]: rig.stop }
  await rig.start(withoutEngine)
  const wallets = await rig.wallets(2, 100_000n)
  const clear = await transfer(rig, wallets, '10.00')
  const unclear = await transfer(rig, wallets, '20.00')
  await rig.kill()
  const copy = { DATABASE_DSN: await copyOf(database.dsn) }
  await rig.start()
  const before = await confirmed(rig, clear)
  const sent = await confirmed(rig, unclear)
  // Nobody but its caller knows of this one afterwards: it looks like the one before.
  await confirmed(rig, await transfer(rig, wallets, '20.00'))
  await rig.kill()

  const { out } = await commandHere(['backup-check', '--quick'], { ...rig.env, ...copy })
  expect(out).toContain('GET /v1/drex/held')
  await rig.start(copy)
  const after = await confirmed(rig, clear)
  expect(after).toMatchObject({
    tx_hash: before.tx_hash,
    corrections: [{ code: 'FOUND_ON_CHAIN' }],
  })
  expect(await read(rig, unclear)).toMatchObject({
    status: 'pending',
    error: { code: 'MAY_BE_SENT' },
  })
  await confirmed(rig, await transfer(rig, wallets, '1.00'))
  const { held } = (await rig.call('GET', '/v1/drex/held')).json as HeldPage
  expect(held).toMatchObject([{ subject: unclear }])
  expect(held[0]?.candidates).toHaveLength(2)
  expect(held[0]?.candidates).toContain(sent.tx_hash ?? '')
  await until(async () => JSON.stringify((await rig.call('GET', '/health')).json).includes('held'))
  const release = (tx_hash: string | null) =>
    rig.call('POST', `/v1/drex/held/${held[0]?.transaction_id}/resolve`, {
      decision: 'sent',
      tx_hash,
    })
  expect((await release(before.tx_hash)).status).toBe(400)
  expect((await release(sent.tx_hash)).status).toBe(200)
  expect((await confirmed(rig, unclear)).tx_hash).toBe(sent.tx_hash)
  expect((await release(sent.tx_hash)).status).toBe(404)
  expect(await rig.balanceOf(wallets[1] ?? '')).toBe(105_100n)
})
