import { expect, test } from 'bun:test'
import fc from 'fast-check'
import type { ApiError } from '#src/platform/http/index.ts'
import { generateKey, type KeyRecord } from '#src/platform/security/index.ts'
import { unitsOf } from '../../src/drex/domain.ts'
import type { Hex } from '../../src/drex/evm/hex.ts'
import { comparable, judge } from '../../src/drex/wallets/policy.ts'
import { testApp } from '../support/app.ts'
import { benchOfFile, type TransferBody } from './support.ts'

const bench = await benchOfFile()
const bia = await bench.wallet(0n)

const newCaller = () => {
  const { key, id, hash } = generateKey('test')
  const record: KeyRecord = {
    id,
    name: 'test',
    account: 'default',
    hash,
    grants: ['*'],
    environment: 'test',
    expiresAt: undefined,
    revokedAt: undefined,
  }
  const app = testApp(bench.drex().routes ?? [], { keys: [record] })
  const call = async (method: string, path: string, body?: unknown) => {
    const response = await app.call(method, path, { key, ...(body === undefined ? {} : { body }) })
    return { status: response.status, json: (await response.json()) as never }
  }
  return { id, call }
}

const idOf = async (address: Hex): Promise<string> => {
  const [row] = await bench.database.sql<{ id: string }[]>`
    select id from drex_wallets where address = ${address}`
  return row?.id ?? ''
}

const guarded = async (policy: object): Promise<{ address: Hex; id: string }> => {
  const address = await bench.wallet()
  const id = await idOf(address)
  const changed = await bench.call('PATCH', `/v1/wallets/${id}`, { policy })
  expect([changed.status, changed.json as object]).toMatchObject([200, { policy }])
  return { address, id }
}

const pay = (from: Hex, amount: string, changes: object = {}, headers = {}) =>
  bench.call(
    ...(['POST', '/v1/drex/transfers'] as const),
    { from_wallet: from, to_wallet: bia, amount, ...changes },
    headers,
  )

const ruleOf = ({ status, json }: { status: number; json: object }) => [
  status,
  (json as { error?: { details?: { rule?: string } } }).error?.details?.rule,
]

const outcomes = async (object: string) => [
  ...(await bench.database.sql<{ action: string; outcome: string }[]>`
    select action, outcome from audit_log where object = ${object} order by id`),
]

const statusOf = async (id: string) => (await bench.read(id)).status

test('a limit of one transfer, to the cent, and an allow-list; refusals are in the audit', async () => {
  const { address } = await guarded({ transfer_max: '10.00', destinations: [bia] })
  expect((await pay(address, '10.00')).status).toBe(202)
  expect(ruleOf(await pay(address, '10.01'))).toEqual([422, 'transfer_max'])
  const elsewhere = { to_wallet: `0x${'21'.repeat(20)}` }
  expect(ruleOf(await pay(address, '1.00', elsewhere))).toEqual([422, 'destinations'])
  expect(await outcomes(address)).toEqual([
    { action: 'drex.transfer', outcome: 'refused: transfer_max' },
    { action: 'drex.transfer', outcome: 'refused: destinations' },
  ] as never)
})

test('a limit of 24 hours holds also for requests that come at once, and counts a repetition once', async () => {
  const { address } = await guarded({ day_max: '10.00' })
  const all = await Promise.all(Array.from({ length: 8 }, () => pay(address, '3.00')))
  expect(all.map(({ status }) => status).sort()).toEqual([202, 202, 202, 422, 422, 422, 422, 422])
  const key = { 'Idempotency-Key': 'last-cents' }
  const last = await pay(address, '1.00', {}, key)
  const again = await pay(address, '1.00', {}, key)
  expect([last.status, again.status]).toEqual([202, 202])
  expect((again.json as TransferBody).transfer_id).toBe((last.json as TransferBody).transfer_id)
  expect(ruleOf(await pay(address, '0.01'))).toEqual([422, 'day_max'])
  // What did not move does not count.
  await bench.until(
    async () => (await statusOf((last.json as TransferBody).transfer_id)) === 'confirmed',
  )
  await bench.database.sql`
    update drex_transactions set status = 'failed'
    where subject = ${(last.json as TransferBody).transfer_id}`
  expect((await pay(address, '1.00')).status).toBe(202)
})

test('of two requests under one key, which wait for no common wallet, one is taken and the other told so', async () => {
  const [one, two] = [await guarded({ day_max: '10.00' }), await guarded({ day_max: '10.00' })]
  const { sql } = bench.database
  const waiting = async () => {
    const rows = await sql`
      select 1 from pg_locks where relation = 'drex_transfers'::regclass and not granted`
    return rows.length
  }
  const key = { 'Idempotency-Key': 'of-two-wallets' }
  let both: ReturnType<typeof pay>[] = []
  await sql.begin(async (tx) => {
    // Both have found the key free, and neither has written it.
    await tx`lock table drex_transfers in share mode`
    both = [one, two].map(({ address }) => pay(address, '1.00', {}, key))
    await bench.until(async () => (await waiting()) === 2)
  })
  const answers = await Promise.all(both)
  expect(answers.map(({ status }) => status).sort()).toEqual([202, 422])
  const { json } = answers.find(({ status }) => status === 422)!
  expect(json as object).toMatchObject({ error: { code: 'IDEMPOTENCY_MISMATCH' } })
})

/** What waits for another key. */
const idsWaiting = async (): Promise<readonly string[]> => {
  const { json } = await bench.call('GET', '/v1/drex/transfers?approval=required')
  return (json as { transfers: TransferBody[] }).transfers.map(({ transfer_id: id }) => id)
}

test('above a sum another key approves, and never the one that asked', async () => {
  const { address } = await guarded({ approval_above: '100.00' })
  expect((await pay(address, '100.00')).json as object).toMatchObject({ approval: null })
  const held = await pay(address, '100.01')
  const { transfer_id: id } = held.json as TransferBody
  expect(held.json as object).toMatchObject({ status: 'pending', approval: 'required' })
  await Bun.sleep(150)
  expect(await statusOf(id)).toBe('pending')
  expect((await bench.call('POST', `/v1/drex/transfers/${id}/approve`)).status).toBe(409)
  expect(await idsWaiting()).toEqual([id])
  const second = newCaller()
  const approved = await second.call('POST', `/v1/drex/transfers/${id}/approve`)
  expect([approved.status, approved.json as object]).toMatchObject([
    200,
    { approval: 'approved', approved_by: second.id },
  ])
  // A repetition, because the first answer was lost, gets it again and approves nothing twice.
  expect(await second.call('POST', `/v1/drex/transfers/${id}/approve`)).toMatchObject({
    status: 200,
    json: { approval: 'approved', approved_by: second.id },
  })
  await bench.until(async () => (await statusOf(id)) === 'confirmed')
  expect(await outcomes(id)).toEqual([
    { action: 'drex.transfer', outcome: 'approval required' },
    { action: 'drex.approve', outcome: 'approved' },
  ] as never)

  const { json: told } = await second.call('GET', `/v1/drex/transfers/${id}`)
  expect((told as { requested_by: string }).requested_by).not.toBe(second.id)

  expect(await idsWaiting()).toEqual([])
  const refused = (await pay(address, '200.00')).json as TransferBody
  const path = `/v1/drex/transfers/${refused.transfer_id}`
  expect((await second.call('POST', `${path}/cancel`)).status).toBe(200)
  expect((await second.call('POST', `${path}/approve`)).status).toBe(409)
  expect(await statusOf(refused.transfer_id)).toBe('cancelled')
  expect((await bench.call('GET', path)).json as object).toMatchObject({ approval: 'lapsed' })
  expect(await idsWaiting()).toEqual([])
})

test('what is held and waits for another key: to resolve it as not sent approves nothing', async () => {
  const { address } = await guarded({ approval_above: '100.00' })
  const { transfer_id: id } = (await pay(address, '100.01')).json as TransferBody
  const [step] = await bench.database.sql<{ id: string }[]>`
    update drex_transactions set held = jsonb_build_object('since', now(), 'candidates', '[]'::jsonb)
    where subject = ${id} returning id`
  const resolve = `/v1/drex/held/${step!.id}/resolve`
  expect((await bench.call('POST', resolve, { decision: 'send' })).status).toBe(200)
  await Bun.sleep(300)
  expect(await statusOf(id)).toBe('pending')
  expect((await newCaller().call('POST', `/v1/drex/transfers/${id}/approve`)).status).toBe(200)
  await bench.until(async () => (await statusOf(id)) === 'confirmed')
})

test('only the keys of a policy sign, and a limited wallet moves nothing by contract calls', async () => {
  const mine = newCaller()
  const { address, id } = await guarded({ keys: [mine.id] })
  const body = { from_wallet: address, to_wallet: bia, amount: '1.00' }
  expect((await bench.call('POST', '/v1/drex/transfers', body)).status).toBe(403)
  expect((await mine.call('POST', '/v1/drex/transfers', body)).status).toBe(202)
  await bench.call('PATCH', `/v1/wallets/${id}`, { policy: { day_max: '1.00' } })
  const path = `/v1/contracts/${bench.admin.token}`
  await bench.until(async () => (await bench.call('GET', path)).status === 200)
  const moved = await bench.call('POST', `${path}/call`, {
    function: 'transfer',
    params: { to: bia, amount: '1' },
    signer_wallet: address,
  })
  expect(ruleOf(moved)).toEqual([422, 'contracts'])
})

test('a disabled wallet signs nothing until it is active again; an archived one never', async () => {
  const address = await bench.wallet()
  const path = `/v1/wallets/${await idOf(address)}`
  const set = (status: string) => bench.call('PATCH', path, { status })
  expect((await set('disabled')).json as object).toMatchObject({ status: 'disabled' })
  const refused = await pay(address, '1.00')
  expect([refused.status, (refused.json as { error: { code: string } }).error.code]).toEqual([
    422,
    'WALLET_DISABLED',
  ])
  expect(bench.drex().wallets.signerFor(address, 'test')).rejects.toThrow('disabled')
  await set('active')
  const key = { 'Idempotency-Key': 'before-it-is-archived' }
  const taken = await pay(address, '1.00', {}, key)
  expect(taken.status).toBe(202)
  expect((await set('archived')).status).toBe(200)
  expect((await set('active')).status).toBe(422)
  expect((await pay(address, '1.00')).status).toBe(422)
  // What was taken before stays so for whoever asks again.
  const again = await pay(address, '1.00', {}, key)
  expect([again.status, again.json]).toEqual([202, taken.json])
  for (const bad of [{}, { status: 'gone' }, { policy: { day_max: '1' } }, { colour: 'red' }]) {
    expect((await bench.call('PATCH', path, bad)).status).toBe(400)
  }
  expect((await bench.call('PATCH', '/v1/wallets/wal_none', { label: 'x' })).status).toBe(404)
})

test('the account’s own deployer is a wallet like any other: who may not sign with it does not deploy', async () => {
  const { wallets } = bench.drex()
  const by = { owner: 'deploying', keyId: 'a', environment: 'test', restrictions: {} } as const
  const { id, address } = await wallets.deployer(by)
  const set = (change: object) =>
    wallets.change(
      id,
      by,
      { status: undefined, label: undefined, policy: undefined, alerts: undefined, ...change },
      async () => {},
    )
  const code = (deployer: Promise<unknown>) =>
    deployer.then(
      () => 'taken',
      (error: ApiError) => error.definition.code,
    )
  await set({ policy: { keys: ['a'] } })
  expect(await code(wallets.deployer({ ...by, keyId: 'b' }))).toBe('forbidden')
  await set({ status: 'disabled' })
  expect(await code(wallets.deployer(by))).toBe('wallet_disabled')
  await set({ status: 'active' })
  expect((await wallets.deployer(by)).address).toBe(address)
  await set({ status: 'archived' })
  const next = await wallets.deployer(by)
  expect([next.address === address, next.status]).toEqual([false, 'active'])
  expect((await wallets.deployer(by)).address).toBe(next.address)
})

test('whatever the amounts: nothing beyond a limit is allowed, nothing within is refused', () => {
  const cents = fc.bigInt({ min: 1n, max: 1_000_000n })
  fc.assert(
    fc.property(cents, cents, cents, cents, cents, (amount, one, day, second, spent) => {
      const text = (value: bigint) =>
        `${value / 100n}.${(value % 100n).toString().padStart(2, '0')}`
      const policy = {
        transfer_max: text(one),
        day_max: text(day),
        approval_above: text(second),
      }
      const { verdict } = judge(policy, {
        amount: comparable(amount, 2),
        to: '0x1',
        spent: comparable(spent, 2),
      })
      const isWithin = amount <= one && spent + amount <= day
      expect(verdict).toBe(isWithin ? (amount > second ? 'approval' : 'allowed') : 'refused')
      expect(unitsOf(text(amount), 36)).toBe(comparable(amount, 2))
    }),
  )
})

test('a change of a wallet counts at once, also for whoever looked while it was made', async () => {
  const address = await bench.wallet()
  const { wallets } = bench.drex()
  const id = await idOf(address)
  const change = {
    status: 'disabled',
    label: undefined,
    policy: undefined,
    alerts: undefined,
  } as const
  await wallets.change(
    id,
    { owner: 'default', keyId: 'key', environment: 'test' as const, restrictions: {} },
    change,
    async () => {
      expect(await wallets.find(address)).toMatchObject({ status: 'active' })
    },
  )
  expect(await wallets.find(address)).toMatchObject({ status: 'disabled' })
})
