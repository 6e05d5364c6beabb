/** Many transfers in one request: all are taken or none, and each has its own end. */
import { expect, test } from 'bun:test'
import { generateKey, type KeyRecord } from '#src/platform/security/index.ts'
import type { Hex } from '../../src/drex/evm/hex.ts'
import { testApp } from '../support/app.ts'
import { benchOfFile, type TransferBody } from './support.ts'

type Batch = {
  readonly batch_id: string
  readonly statuses: Readonly<Record<string, number>>
  readonly transfers: readonly (TransferBody & { readonly approval: string | null })[]
}

const bench = await benchOfFile()
const ana = await bench.wallet()
const eva = await bench.wallet()
const bia = await bench.wallet(0n)

const row = (from: Hex, amount: string, more: object = {}) => ({
  from_wallet: from,
  to_wallet: bia,
  amount,
  ...more,
})

const send = (transfers: readonly object[], headers = {}) =>
  bench.call('POST', '/v1/drex/batches', { transfers }, headers)

const read = async (id: string) => (await bench.call('GET', `/v1/drex/batches/${id}`)).json as Batch

const count = async (): Promise<number> => {
  const [found] = await bench.database.sql<{ count: number }[]>`
    select count(*)::int as count from drex_transfers`
  return found?.count ?? 0
}

const limit = async (address: Hex, policy: object) => {
  const [found] = await bench.database.sql<{ id: string }[]>`
    select id from drex_wallets where address = ${address}`
  await bench.call('PATCH', `/v1/wallets/${found?.id}`, { policy })
}

/** Another key of the account. */
const approver = (restrictions?: object) => {
  const { key, id, hash } = generateKey('test')
  const record: KeyRecord = {
    id,
    name: 'second',
    account: 'default',
    hash,
    grants: ['*'],
    environment: 'test',
    expiresAt: undefined,
    revokedAt: undefined,
    ...(restrictions === undefined ? {} : { restrictions }),
  }
  const app = testApp(bench.drex().routes ?? [], { keys: [record] })
  return (path: string) => app.call('POST', path, { key })
}

test('each row ends by itself, and its event tells of it', async () => {
  const key = { 'Idempotency-Key': 'wages' }
  const rows = [
    row(ana, '1.00', { reference: 'one', metadata: { employee: 1 } }),
    row(eva, '2.00'),
    // The chain refuses this one alone.
    row(ana, '5000.00'),
  ]
  const made = await send(rows, key)
  expect(made.status).toBe(202)
  const batch = made.json as Batch
  expect(batch.transfers.map(({ amount, status }) => [amount, status])).toEqual([
    ...[
      ['1.00', 'pending'],
      ['2.00', 'pending'],
      ['5000.00', 'pending'],
    ],
  ])
  const again = await send(rows, key)
  expect([again.json, again.headers.get('Idempotent-Replayed')]).toEqual([made.json, 'true'])
  await bench.until(async () => (await read(batch.batch_id)).statuses['pending'] === undefined)
  await bench.until(async () => (await read(batch.batch_id)).statuses['confirmed'] === 2)
  const shown = await read(batch.batch_id)
  expect(shown.statuses).toEqual({ confirmed: 2, failed: 1 })
  expect(shown.transfers.map(({ status }) => status)).toEqual(['confirmed', 'confirmed', 'failed'])
  expect(shown.transfers[2]?.error?.code).toBe('SIMULATION_REVERTED')
  expect(await bench.balance(bia)).toBe(300n)
  const ids = batch.transfers.map(({ transfer_id: id }) => id)
  const told = bench.events.filter(({ subject }) => ids.includes(subject ?? ''))
  expect(told.map(({ type }): string => type).sort()).toEqual([
    ...['drex.transfer.confirmed', 'drex.transfer.confirmed', 'drex.transfer.failed'],
  ])
  const one = await bench.call('GET', `/v1/drex/transfers/${ids[0]}`)
  expect(one.json as object).toMatchObject({ batch_id: batch.batch_id, reference: 'one' })
  const acts = await bench.database.sql`
    select action, outcome from audit_log where object = any(${ids})`
  expect(acts).toHaveLength(3)
})

test('one bad row and none is taken; every bad row is named', async () => {
  const before = await count()
  const strange = `0x${'21'.repeat(20)}` as Hex
  const unknown = await send([row(ana, '1.00'), row(strange, '1.00'), row(ana, '1.000')])
  expect([unknown.status, (unknown.json as { error: object }).error]).toMatchObject([
    404,
    { code: 'WALLET_NOT_FOUND', details: { field: 'transfers.1.from_wallet' } },
  ])
  const decimals = await send([row(ana, '1.001'), row(ana, '1.00'), row(ana, '1.002')])
  expect([decimals.status, (decimals.json as { error: object }).error]).toMatchObject([
    400,
    {
      details: {
        rows: [
          { row: 0, field: 'amount' },
          { row: 2, field: 'amount' },
        ],
      },
    },
  ])
  for (const bad of [
    [],
    Array.from({ length: 501 }, () => row(ana, '0.01')),
    [row(ana, '1.00', { to_wallet: ana })],
    [row(ana, '1.00', { swap: {} })],
  ]) {
    expect((await send(bad)).status).toBe(400)
  }
  expect(await count()).toBe(before)
  expect((await bench.call('GET', '/v1/drex/batches/bat_none')).status).toBe(404)
})

test('limits hold for the sum of a wallet’s rows, and nothing is taken beyond them', async () => {
  const before = await count()
  const cai = await bench.wallet()
  const ruleOf = ({ status, json }: { status: number; json: object }) => [
    status,
    (json as { error?: { details?: { rule?: string } } }).error?.details?.rule,
  ]
  await limit(cai, { day_max: '10.00', transfer_max: '6.00' })
  expect(ruleOf(await send([row(ana, '1.00'), row(cai, '5.00'), row(cai, '5.01')]))).toEqual([
    ...([422, 'day_max'] as const),
  ])
  expect(ruleOf(await send([row(cai, '6.01')]))).toEqual([422, 'transfer_max'])
  expect(await count()).toBe(before)
  expect((await send([row(cai, '4.00'), row(cai, '6.00')])).status).toBe(202)
  expect(ruleOf(await send([row(cai, '0.01')]))).toEqual([422, 'day_max'])
  const refusals = await bench.database.sql`
    select outcome from audit_log where object = ${cai} and outcome like 'refused%'`
  expect(refusals).toHaveLength(3)
})

test('rows that come to more than a second key’s sum wait together, and go together', async () => {
  const dia = await bench.wallet()
  await limit(dia, { approval_above: '10.00' })
  const held = (await send([row(dia, '6.00'), row(ana, '1.00'), row(dia, '6.00')])).json as Batch
  expect(held.transfers.map(({ approval }) => approval)).toEqual(['required', null, 'required'])
  const path = `/v1/drex/batches/${held.batch_id}/approve`
  expect((await bench.call('POST', path)).status).toBe(409)
  const second = approver()
  expect((await second(path)).status).toBe(200)
  await bench.until(async () => (await read(held.batch_id)).statuses['confirmed'] === 3)
})

test('what of a batch was cancelled, or is of a wallet that the key is not for, holds up nothing', async () => {
  const [dia, gil] = [await bench.wallet(), await bench.wallet()]
  for (const each of [dia, gil]) await limit(each, { approval_above: '1.00' })
  const rows = [row(dia, '2.00'), row(dia, '3.00'), row(gil, '4.00', { to_wallet: dia })]
  const held = (await send(rows)).json as Batch
  const [, cancelled] = held.transfers
  const cancel = `/v1/drex/transfers/${cancelled?.transfer_id}/cancel`
  expect((await bench.call('POST', cancel)).status).toBe(200)
  const path = `/v1/drex/batches/${held.batch_id}/approve`
  const stranger = approver({ wallets: [bia] })
  expect((await stranger(path)).status).toBe(403)
  const dias = approver({ wallets: [dia] })
  expect((await dias(path)).status).toBe(200)
  // The answer may have been lost.
  expect((await dias(path)).status).toBe(200)
  const approvals = async () => (await read(held.batch_id)).transfers.map((each) => each.approval)
  expect(await approvals()).toEqual(['approved', 'lapsed', 'required'])
  expect((await approver()(path)).status).toBe(200)
  expect(await approvals()).toEqual(['approved', 'lapsed', 'approved'])
  expect((await approver()(path)).status).toBe(409)
  await bench.until(async () => (await read(held.batch_id)).statuses['confirmed'] === 2)
  expect((await dias(path)).status).toBe(200)
})

test('five hundred rows are one request', async () => {
  const rows = Array.from({ length: 500 }, () => row(eva, '0.01'))
  const made = await send(rows)
  expect([made.status, (made.json as Batch).transfers.length]).toEqual([202, 500])
})
