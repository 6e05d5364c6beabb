/** Kills while keys are claimed, given up and taken over: each claim ends once, and our book is the directory's. */
import { expect, test } from 'bun:test'
import { createCentralBank } from '../../src/simulators/central-bank/index.ts'
import { createDirectory, type Directory } from '../../src/simulators/directory/index.ts'
import { seeded } from '../support/contract-bench.ts'
import { createTestDatabase } from '../support/database.ts'
import { seed } from '../support/seed.ts'
import { until } from '../support/until.ts'
import { createGateway, type Gateway } from './pix-gateway.ts'

const isLong = process.env['TRILHO_LONG'] === '1'
const kills = isLong ? 50 : 2
const settleMs = isLong ? 600_000 : 180_000
const [base, other] = ['/v1/dict/claims', '87654321']
const [ana, eva] = [
  { name: 'Ana Souza', tax_id: '98765432100' },
  { name: 'Eva Lima', tax_id: '12345678909' },
]

// biome-ignore lint/suspicious/noExplicitAny: answers are looked into as they come
type Json = any
type Sides = { readonly gateway: Gateway; readonly directory: Directory }

const emailOf = (n: number): string => `kill${n}@example.com`
const phoneOf = (n: number): string => `+5561988${100_000 + n}`
const typeOf = (key: string) => (key.startsWith('+') ? 'PHONE' : 'EMAIL')
/** One account has five keys at most. */
const accountOf = (n: number) => ({
  branch: '0001',
  number: String(n),
  type: 'CACC',
  opened_at: '2020-01-10T03:00:00Z',
})
const placeOf = (n: number) => ({
  ispb: other,
  account: String(n),
  account_type: 'CACC' as const,
})

const claimOf = async ({ gateway }: Sides, key: string): Promise<Json> => {
  const { json } = await gateway.operate('GET', `${base}?key=${encodeURIComponent(key)}`)
  return (json as Json).claims?.[0]
}

/** The claim to a key, once it has one of these states. */
const waitFor = async (sides: Sides, key: string, ...states: readonly string[]): Promise<Json> => {
  let found: Json
  const isThere = async (): Promise<boolean> => {
    found = await claimOf(sides, key)
    return states.includes(found?.status) && found.pending === null
  }
  await until(isThere, settleMs, `the claim to ${key} is ${states.join(' or ')}`)
  return found
}

/** Whoever learns nothing asks again, and others ask too. */
const actAtOnce = async ({ gateway }: Sides, id: string, act: string, body?: object) => {
  const asked = [1, 2].map(() => gateway.operate('POST', `${base}/${id}/${act}`, body))
  for (const { status, json } of await Promise.all(asked)) {
    expect([act, [200, 202, 409, 422].includes(status), json]).toEqual([act, true, json])
  }
}

/** What becomes of a key: whether it is ours in the end. */
type Told = { readonly key: string; readonly isOurs: boolean }

const register = async ({ gateway }: Sides, n: number, key: string): Promise<void> => {
  const owner = { tax_id: ana.tax_id, name: ana.name }
  const body = { key_type: typeOf(key), key, owner, account: accountOf(n) }
  const made = await gateway.operate('POST', '/v1/dict/entries', body, `entry${n}`)
  expect([made.status, made.json]).toEqual([made.status === 201 ? 201 : 202, made.json])
  const isThere = async (): Promise<boolean> => {
    const { json } = await gateway.operate('GET', `/v1/dict/entries/${(made.json as Json).id}`)
    return (json as Json).status === 'registered'
  }
  await until(isThere, settleMs, `the entry of ${key}`)
}

/** Somebody claims a key of ours, which its owner gives up, keeps, or says nothing about. */
const claimedFromUs = async (sides: Sides, n: number): Promise<Told> => {
  const isOwnership = n % 2 === 0
  const key = isOwnership ? phoneOf(n) : emailOf(n)
  await register(sides, n, key)
  sides.directory.claim({
    type: isOwnership ? 'OWNERSHIP' : 'PORTABILITY',
    key,
    key_type: typeOf(key),
    ...(isOwnership ? eva : ana),
    ...placeOf(n),
  })
  const isGivenUp = n % 3 === 0
  const ends = ['cancelled', 'completed'] as const
  if (isGivenUp) {
    const { id, status } = await waitFor(sides, key, 'waiting_resolution', 'confirmed', ...ends)
    // While processes are killed the deadline may come first.
    if (status === 'waiting_resolution') {
      await actAtOnce(sides, id, 'confirm', { reason: 'USER_REQUESTED' })
    }
  }
  const { status } = await waitFor(sides, key, ...ends)
  const isOurs = status === 'cancelled'
  // The silent owner of a phone loses it.
  if (isOwnership || !isGivenUp) expect([key, isOurs]).toEqual([key, !isOwnership])
  return { key, isOurs }
}

/** We claim a key that another keeps, who gives it up, refuses, or says nothing. */
const claimedByUs = async (sides: Sides, n: number): Promise<Told> => {
  const isOwnership = n % 2 === 0
  const key = isOwnership ? phoneOf(n) : emailOf(n)
  const manner = (['confirm', 'silent', 'cancel'] as const)[n % 3] ?? 'silent'
  sides.directory.register({
    key_type: typeOf(key),
    key,
    ...ana,
    ...placeOf(n),
    on_claim: manner,
  })
  const claimer = isOwnership ? eva : ana
  const type = isOwnership ? 'OWNERSHIP' : 'PORTABILITY'
  const body = { type, key, key_type: typeOf(key), claimer, account: accountOf(n) }
  const made = await Promise.all(
    [1, 2].map(() => sides.gateway.operate('POST', base, body, `claim${n}`)),
  )
  for (const { status, json } of made) {
    expect([[201, 202].includes(status), json]).toEqual([true, json])
  }
  const isOurs = manner === 'confirm' || (manner === 'silent' && isOwnership)
  if (isOurs && isOwnership) {
    const { id } = await waitFor(sides, key, 'confirmed')
    await actAtOnce(sides, id, 'complete')
  }
  await waitFor(sides, key, isOurs ? 'completed' : 'cancelled')
  return { key, isOurs }
}

/** As gateway and directory have them. */
const expectSame = async ({ gateway, directory }: Sides, told: readonly Told[]): Promise<void> => {
  const there = directory.claims
    .all()
    .map(({ id, key, status }) => `${id} ${key} ${status}`)
    .sort()
  expect(there).toHaveLength(told.length)
  const here: string[] = []
  for (const { key, isOurs } of told) {
    const query = `key=${encodeURIComponent(key)}`
    const { json } = await gateway.operate('GET', `${base}?${query}`)
    for (const one of (json as Json).claims) {
      expect(one).toMatchObject({ pending: null, next: null, needs_attention: false })
      here.push(`${one.claim_id} ${one.key} ${one.status.toUpperCase()}`)
    }
    const { json: kept } = await gateway.operate('GET', `/v1/dict/entries?${query}`)
    const open = (kept as Json).entries.filter((one: Json) => one.status !== 'removed')
    expect([key, open.map((one: Json) => one.status)]).toEqual([key, isOurs ? ['registered'] : []])
  }
  expect(here.sort()).toEqual(there)
  for (const type of ['PHONE', 'EMAIL']) {
    const { json } = await gateway.operate('POST', '/v1/dict/verifications', { key_type: type })
    expect(json).toMatchObject({ result: 'same' })
  }
}

test(
  `${kills} kills during claims: each ends once, and our book is the directory's (seed ${seed})`,
  async () => {
    const pick = seeded(seed)
    const database = await createTestDatabase(4)
    const bank = await createCentralBank({ longPollMs: 200, streamIdleMs: 1_000 })
    const directory = await createDirectory({
      category: 'A',
      claimAnswerMs: 200,
      claimPeriods: { resolutionMs: isLong ? 6_000 : 3_000, completionMs: 1_000, listLagMs: 200 },
    })
    const env = { DICT_URL: directory.url, DICT_POLL_SECONDS: '5', DICT_TIMEOUT: '1' }
    const gateway = await createGateway(database, bank, env)
    const sides = { gateway, directory }
    try {
      const all: Promise<Told>[] = []
      for (let kill = 0; kill < kills; kill++) {
        directory.setFaults([
          { kind: 'error_after_storing', operation: 'write', probability: 0.1 },
          { kind: 'error_after_storing', operation: 'claim', probability: 0.1 },
          { kind: 'unavailable', probability: 0.1 },
        ])
        for (const n of [0, 1, 2]) {
          all.push(claimedFromUs(sides, 6 * kill + n))
          all.push(claimedByUs(sides, 6 * kill + 3 + n))
        }
        await Bun.sleep(1_000 + pick(isLong ? 9_000 : 3_000))
        await gateway.kill(kill % 2 === 0 ? 'rest' : 'api')
      }
      directory.setFaults([])
      await expectSame(sides, await Promise.all(all))
      expect(await database.sql`select from broker_dead_letters`).toHaveLength(0)
    } finally {
      await gateway[Symbol.asyncDispose]()
      await directory.stop()
      await bank.stop()
      await database.close()
    }
  },
  300_000 + kills * 40_000,
)
