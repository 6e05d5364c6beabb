/** Claims of this institution and against it, on the simulated directory, which judges what is signed and when. */
import { afterAll, beforeEach, describe, expect, test } from 'bun:test'
import type { ClaimCalls } from '../../src/dict/claims/calls.ts'
import { reasonsFor } from '../../src/dict/claims/domain.ts'
import { until } from '../support/until.ts'
import { type Json, startDict } from './support.ts'

const dict = await startDict({}, { isOneClock: true })
afterAll(dict.stop)
const { directory, sql } = dict
const [own, other, sample] = ['12345678', '87654321', '99999A04']
const dayMs = 86_400_000
const base = '/v1/dict/claims'
const owner = { tax_id: '98765432100', name: 'Ana  “É” Souza' }
beforeEach(() => directory.setFaults([]))

let serial = 0
const account = (number = String(++serial)) => ({
  branch: '0001',
  number,
  type: 'CACC',
  opened_at: '2020-01-10T03:00:00Z',
})
/** An entry of ours, registered as users do. */
const ownEntry = async (type: 'PHONE' | 'EMAIL' = 'PHONE'): Promise<Json> => {
  const key = type === 'PHONE' ? `+55619888${10_000 + ++serial}` : `ana${++serial}@example.com`
  const { status, json } = await dict.call('POST', '/v1/dict/entries', {
    key_type: type,
    key,
    owner,
    account: account(),
  })
  if (status !== 201) throw new Error(JSON.stringify(json))
  return json
}
/** Somebody claims a key of ours. @returns the directory's id of the claim */
const against = (key: string, type: 'OWNERSHIP' | 'PORTABILITY'): string =>
  directory.claim({
    type,
    key,
    key_type: key.startsWith('+') ? 'PHONE' : 'EMAIL',
    ...(type === 'PORTABILITY' ? owner : { name: 'João', tax_id: '12345678909' }),
    ispb: other,
    account: '777',
    account_type: 'CACC',
  })
/** A key that somebody else keeps. */
const elsewhere = (
  on_claim?: 'confirm' | 'cancel' | 'silent',
  type: 'PHONE' | 'EMAIL' = 'EMAIL',
): string =>
  directory.register({
    key_type: type,
    key: type === 'PHONE' ? `+55619777${10_000 + ++serial}` : `eva${++serial}@example.com`,
    ...owner,
    ispb: sample,
    account: '1',
    account_type: 'CACC',
    on_claim,
  })
const claimBody = (key: string, type = 'PORTABILITY') => ({
  type,
  key,
  key_type: key.startsWith('+') ? 'PHONE' : 'EMAIL',
  account: account(),
  claimer: type === 'PORTABILITY' ? owner : { tax_id: '12345678909', name: 'Eva' },
})
const open = async (key: string, type?: string, idempotencyKey?: string) =>
  dict.call(
    ...(['POST', base, claimBody(key, type)] as const),
    idempotencyKey === undefined ? {} : { 'Idempotency-Key': idempotencyKey },
  )
const act = (id: string, name: string, body?: object) =>
  dict.call('POST', `${base}/${id}/${name}`, body)
const find = async (id: string): Promise<Json> => (await dict.call('GET', `${base}/${id}`)).json
const byKey = async (key: string): Promise<readonly Json[]> =>
  (await dict.call('GET', `${base}?key=${encodeURIComponent(key)}`)).json.claims
/** Lists of the directory know of a change five seconds later. */
const polled = async (ms = 6_000): Promise<void> => {
  dict.pass(ms)
  await dict.poll()
}
/** What we asked and nobody answered is asked again. */
const again = async (ms = 16_000): Promise<void> => {
  dict.pass(ms)
  await dict.due()
}
const entryOf = async (key: string): Promise<Json> =>
  (await dict.call('GET', `/v1/dict/entries?key=${encodeURIComponent(key)}`)).json.entries[0]
const isSame = async (type: string): Promise<unknown> =>
  (await dict.call('POST', '/v1/dict/verifications', { key_type: type })).json.result
const outcomes = async (id: string): Promise<readonly string[]> =>
  (
    await sql<{ outcome: string }[]>`
      select outcome from audit_log where object = ${id} order by id`
  ).map(({ outcome }) => outcome)

describe('a claim against us', () => {
  test('is found once, acknowledged, and refused by silence where it is a portability', async () => {
    const { key } = await ownEntry()
    against(key, 'PORTABILITY')
    await polled()
    await Promise.all([polled(0), polled(0)])
    const claims = await byKey(key)
    expect(claims).toMatchObject([
      {
        role: 'donor',
        type: 'PORTABILITY',
        status: 'waiting_resolution',
        ispb: other,
        pending: null,
        claimer: null,
        account: null,
        next: { act: 'cancel', reason: 'DEFAULT_OPERATION' },
      },
    ])
    const [{ id, next, resolution_ends_at: ends }] = claims as [Json]
    expect(next.at).toBe(ends)
    const waiting = await dict.call('GET', `${base}?needs_attention=true`)
    expect(waiting.json.claims.map((one: Json) => one.id)).toEqual([id])
    await again(7 * dayMs - 60_000)
    expect((await find(id)).status).toBe('waiting_resolution')
    await again(60_000)
    expect(await find(id)).toMatchObject({
      status: 'cancelled',
      cancel_reason: 'DEFAULT_OPERATION',
      cancelled_by: 'donor',
      next: null,
    })
    expect(await outcomes(id)).toEqual(['acknowledge', 'cancel DEFAULT_OPERATION'])
    expect([(await entryOf(key)).status, await isSame('PHONE')]).toEqual(['registered', 'same'])
  })

  test('of a new owner goes through by silence, and the entry is gone with it', async () => {
    const { key } = await ownEntry()
    against(key, 'OWNERSHIP')
    await polled()
    const [{ id }] = (await byKey(key)) as [Json]
    const refused = await act(id, 'cancel', { reason: 'USER_REQUESTED' })
    expect([refused.status, refused.json.errors]).toMatchObject([400, [{ pointer: '/reason' }]])
    const early = await act(id, 'confirm', { reason: 'DEFAULT_OPERATION' })
    expect([early.status, early.json.code]).toEqual([409, 'dict_claim_not_possible'])
    await again(7 * dayMs)
    expect(await find(id)).toMatchObject({
      status: 'confirmed',
      confirm_reason: 'DEFAULT_OPERATION',
    })
    expect([(await entryOf(key)).status, await isSame('PHONE')]).toEqual(['removed', 'same'])
    // The other side completes it; nobody tells but the list.
    dict.pass(7 * dayMs)
    await polled()
    await polled()
    expect((await find(id)).status).toBe('completed')
    expect(await isSame('PHONE')).toBe('same')
  })

  test('is confirmed by a person, also while the entry is being changed', async () => {
    const { key, id: entryId } = await ownEntry('EMAIL')
    against(key, 'PORTABILITY')
    await polled()
    const [{ id }] = (await byKey(key)) as [Json]
    directory.setFaults([{ kind: 'unavailable', operation: 'write', times: 1 }])
    const changing = await dict.call('DELETE', `/v1/dict/entries/${entryId}`)
    expect([changing.status, changing.json.status]).toEqual([202, 'removing'])
    const done = await act(id, 'confirm', {})
    expect([done.status, done.json.status]).toEqual([200, 'confirmed'])
    expect((await act(id, 'confirm', {})).status).toBe(200)
    expect((await act(id, 'acknowledge')).status).toBe(200)
    await dict.retryEntries()
    expect([(await entryOf(key)).status, await isSame('EMAIL')]).toEqual(['removed', 'same'])
    expect((await act(id, 'complete')).json).toMatchObject({
      code: 'dict_claim_not_possible',
      claim_status: 'confirmed',
      role: 'donor',
    })
  })

  test('locks the entry: it cannot be removed before the claim has ended', async () => {
    const { key, id } = await ownEntry()
    against(key, 'OWNERSHIP')
    const { status, json } = await dict.call('DELETE', `/v1/dict/entries/${id}`)
    expect([status, json.directory_code]).toEqual([422, 'EntryLockedByClaim'])
    expect((await entryOf(key)).status).toBe('registered')
  })
})

describe('who may cancel a claim, and why', () => {
  const all = ['FRAUD', 'RECONCILIATION', 'RFB_VALIDATION', 'USER_REQUESTED'] as const
  const able = ['FRAUD', 'USER_REQUESTED'] as const
  /** By the table and the exceptions of cancelClaim, DICT API 2.12.1. */
  test.each([
    ['OWNERSHIP', 'donor', 'confirmed', ['FRAUD']],
    ['OWNERSHIP', 'donor', 'open', ['FRAUD']],
    ['OWNERSHIP', 'claimer', 'confirmed', ['FRAUD', 'RFB_VALIDATION', 'USER_REQUESTED']],
    ['PORTABILITY', 'donor', 'open', able],
    ['PORTABILITY', 'donor', 'waiting_resolution', able],
    ['PORTABILITY', 'donor', 'confirmed', []],
    ['PORTABILITY', 'claimer', 'open', all],
    ['PORTABILITY', 'claimer', 'waiting_resolution', all.filter((one) => one !== 'RECONCILIATION')],
    ['PORTABILITY', 'claimer', 'confirmed', ['FRAUD', 'RECONCILIATION', 'RFB_VALIDATION']],
  ] as const)('of %s by the %s while it is %s: %j', (type, role, status, reasons) => {
    const claim = { type, role, status }
    expect(all.filter((one) => reasonsFor(claim, 'cancel').includes(one))).toEqual([...reasons])
  })

  test('a portability that we have confirmed is not ours to cancel', async () => {
    const { key } = await ownEntry()
    against(key, 'PORTABILITY')
    await polled()
    const [{ id }] = (await byKey(key)) as [Json]
    expect((await act(id, 'confirm', {})).json.status).toBe('confirmed')
    const { status, json } = await act(id, 'cancel', { reason: 'FRAUD' })
    expect([status, json.code, json.claim_status]).toEqual([
      ...[409, 'dict_claim_not_possible', 'confirmed'],
    ])
  })
})

describe('a claim of ours', () => {
  test('for portability is completed without asking, and the key is ours with its age', async () => {
    const key = elsewhere('confirm')
    dict.pass(dayMs)
    const made = await open(key, 'PORTABILITY', 'claim-1')
    expect([made.status, made.json]).toMatchObject([
      201,
      { status: 'open', role: 'claimer', ispb: sample, claimer: owner },
    ])
    const repeated = await open(key, 'PORTABILITY', 'claim-2')
    expect([repeated.status, repeated.json.code]).toEqual([409, 'dict_claim_exists'])
    await polled()
    await polled()
    await again(0)
    const claim = await find(made.json.id)
    expect(claim).toMatchObject({ status: 'completed', pending: null, refusal: null })
    const entry = await entryOf(key)
    expect(entry).toMatchObject({ id: claim.id, status: 'registered', owner })
    expect(dict.now().getTime() - Date.parse(entry.owned_since)).toBeGreaterThan(dayMs)
    expect(await isSame('EMAIL')).toBe('same')
  })

  test('for an owner waits for who proves the possession again, who may say so before', async () => {
    const key = elsewhere('silent', 'PHONE')
    const { json: made } = await open(key, 'OWNERSHIP')
    await polled()
    dict.pass(7 * dayMs)
    await polled()
    await polled()
    expect(await find(made.id)).toMatchObject({ status: 'confirmed', next: null, pending: null })
    const waiting = await dict.call('GET', `${base}?needs_attention=true&role=claimer`)
    expect(waiting.json.claims.map((one: Json) => one.id)).toEqual([made.id])
    const asked = await act(made.id, 'complete')
    expect([asked.status, asked.json]).toMatchObject([
      202,
      { status: 'confirmed', pending: 'complete', next: { act: 'complete' } },
    ])
    await again()
    expect((await find(made.id)).status).toBe('confirmed')
    await again(7 * dayMs)
    expect((await find(made.id)).status).toBe('completed')
    expect([(await entryOf(key)).id, await isSame('PHONE')]).toEqual([made.id, 'same'])
  })

  test('is cancelled before its day instead of completed, if somebody says so', async () => {
    const key = elsewhere('silent', 'PHONE')
    const { json: made } = await open(key, 'OWNERSHIP')
    await polled()
    dict.pass(7 * dayMs)
    await polled()
    await polled()
    await act(made.id, 'complete')
    const { status, json } = await act(made.id, 'cancel', { reason: 'USER_REQUESTED' })
    expect([status, json.status, json.cancelled_by]).toEqual([200, 'cancelled', 'claimer'])
    expect((await act(made.id, 'cancel', { reason: 'FRAUD' })).status).toBe(409)
    expect(await isSame('PHONE')).toBe('same')
  })

  test('that the directory does not cancel is refused to all that ask for it together', async () => {
    const { json } = await open(elsewhere('silent'))
    directory.claims.acknowledge(json.claim_id, sample)
    directory.claims.confirm(json.claim_id, sample, 'USER_REQUESTED')
    directory.setFaults([{ kind: 'latency', delayMs: 1_200, operation: 'claim' }])
    const cancel = () => act(json.id, 'cancel', {})
    const all = await Promise.all([cancel(), cancel(), Bun.sleep(150).then(cancel)])
    expect(all.map(({ status, json }) => [status, json.directory_code])).toEqual(
      Array.from({ length: 3 }, () => [422, 'ClaimOperationInvalid']),
    )
  })

  test('that the directory refuses is refused by its name, and may be made again', async () => {
    const { status, json } = await open('nobody@example.com', 'PORTABILITY', 'none')
    expect([status, json.directory_code]).toEqual([422, 'ClaimKeyNotFound'])
    expect((await open('nobody@example.com', 'PORTABILITY', 'none')).status).toBe(422)
    const key = elsewhere('cancel')
    const { json: made } = await open(key)
    await polled()
    await polled()
    expect(await find(made.id)).toMatchObject({ status: 'cancelled', cancelled_by: 'donor' })
    const again = await act(made.id, 'cancel', {})
    expect([again.status, (await open(key)).status]).toEqual([409, 201])
  })

  test('between two customers of ours moves the entry from one to the other', async () => {
    const { key, id: entryId } = await ownEntry()
    const { json: made } = await open(key, 'OWNERSHIP')
    await polled()
    const claims = await byKey(key)
    expect(claims.map((one) => one.role).sort()).toEqual(['claimer', 'donor'])
    const donor = claims.find((one) => one.role === 'donor')
    expect((await act(donor.id, 'confirm', {})).json.status).toBe('confirmed')
    await polled()
    expect((await act(made.id, 'complete')).json.status).toBe('completed')
    await polled()
    expect((await find(donor.id)).status).toBe('completed')
    expect(await entryOf(key)).toMatchObject({ id: made.id, status: 'registered' })
    const gone = await dict.call('GET', `/v1/dict/entries/${entryId}`)
    expect([gone.json.status, await isSame('PHONE')]).toEqual(['removed', 'same'])
  })

  test.each<[string, object, string, string]>([
    ['a random key', { key_type: 'EVP' }, '/key_type', 'enum'],
    ['a key of another type', { key_type: 'PHONE' }, '/key', 'pix_key'],
    ['an e-mail for another owner', { type: 'OWNERSHIP' }, '/key_type', 'consistency'],
    ['another’s CPF', { key_type: 'CPF', key: '12345678909' }, '/key', 'consistency'],
    ['no claimer', { claimer: undefined }, '/claimer', 'required'],
  ])('with %s is refused before anybody is told', async (_, more, pointer, rule) => {
    const before = directory.statistics().claims
    const body = { ...claimBody('joao@example.com'), ...more }
    const { status, json } = await dict.call('POST', base, body)
    expect(status).toBe(400)
    expect(json.errors).toContainEqual(expect.objectContaining({ pointer, rule }))
    expect(directory.statistics().claims).toBe(before)
  })
})

describe('a directory that does not answer', () => {
  const lost = () =>
    directory.setFaults([{ kind: 'error_after_storing', operation: 'claim', times: 1 }])

  test('has made the claim once, and it is found there', async () => {
    const key = elsewhere()
    const before = directory.statistics().claims
    lost()
    const body = claimBody(key)
    const ask = () => dict.call('POST', base, body, { 'Idempotency-Key': 'lost' })
    const { status, json } = await ask()
    expect([status, json.status, json.pending]).toEqual([202, 'opening', 'open'])
    // Too soon for the list to tell: nobody asks.
    const repeated = await ask()
    expect([repeated.status, repeated.json.id]).toEqual([202, json.id])
    await again()
    expect(await find(json.id)).toMatchObject({ status: 'open', pending: null })
    expect(directory.statistics().claims).toBe(before + 1)
  })

  test('has not made it, and makes it then', async () => {
    const key = elsewhere()
    directory.setFaults([{ kind: 'unavailable', operation: 'claim', times: 1 }])
    const { status, json } = await open(key)
    expect([status, json.status]).toEqual([202, 'opening'])
    await again()
    expect((await find(json.id)).status).toBe('open')
  })

  test('is not asked by who noted that it would be, and then stood still: another may have asked meanwhile', async () => {
    const key = 'still@example.com'
    const eva = { tax_id: '12345678909', name: 'Eva' }
    directory.register({
      key_type: 'EMAIL',
      key,
      ...eva,
      ispb: sample,
      account: '2',
      account_type: 'CACC',
    })
    directory.setFaults([{ kind: 'unavailable', operation: 'claim', times: 1 }])
    const { json } = await dict.call('POST', base, { ...claimBody(key), claimer: eva })
    const before = directory.statistics().claims
    const stands = Promise.withResolvers<void>()
    const held = Promise.withResolvers<void>()
    const holding = sql.begin(async (tx) => {
      await tx`select from dict_claims where id = ${json.id} for update`
      held.resolve()
      await stands.promise
    })
    await held.promise
    const asking = again()
    await until(async () => (await sql`select from pg_locks where not granted`).count > 0)
    dict.pass(2_001)
    stands.resolve()
    await Promise.all([holding, asking])
    expect(await find(json.id)).toMatchObject({ status: 'opening', pending: 'open' })
    expect(directory.statistics().claims).toBe(before)
    await again()
    expect((await find(json.id)).status).toBe('open')
    expect(directory.statistics().claims).toBe(before + 1)
    // An answer that counts keeps the directory from being left alone.
    expect((await open('nobody@example.com')).status).toBe(422)
  })

  test.each(['conflict', 'rate_limited'] as const)(
    'for now (%s) has not refused: claims are opened and led on all the same',
    async (kind) => {
      const busy = () => directory.setFaults([{ kind, operation: 'claim', times: 1 }])
      busy()
      const key = elsewhere()
      const { status, json } = await open(key)
      expect([status, json.status, json.pending]).toEqual([202, 'opening', 'open'])
      await again()
      expect((await find(json.id)).status).toBe('open')
      busy()
      const wished = await act(json.id, 'cancel', { reason: 'USER_REQUESTED' })
      expect([wished.status, wished.json.pending]).toEqual([202, 'cancel'])
      await again()
      expect(await find(json.id)).toMatchObject({ status: 'cancelled', refusal: null })
      directory.remove(key)
    },
  )

  test('has not made it, and makes it although a claim that we know cannot be read', async () => {
    const known = (await open(elsewhere())).json
    const key = elsewhere()
    directory.setFaults([{ kind: 'unavailable', operation: 'claim', times: 1 }])
    const { json } = await open(key)
    const page = { items: [], unreadable: [known.claim_id], hasMore: false, cursor: undefined }
    const odd = dict.claimRounds((calls) => {
      const ask = async () => ({ kind: 'page', page }) as const
      return { ...calls, list: (role) => ({ ...calls.list(role), ask }) }
    })
    dict.pass(16_000)
    await odd.due()
    expect((await find(json.id)).status).toBe('open')
    for (const { id } of [known, json]) await act(id, 'cancel', { reason: 'USER_REQUESTED' })
    for (const one of [known.key, key]) directory.remove(one)
  })

  test('has made it, it ended, and no second one is made', async () => {
    const key = elsewhere()
    const before = directory.statistics().claims
    lost()
    const { json } = await open(key)
    const [claim] = directory.claims.going().filter((one) => one.key === key)
    directory.claims.cancel(claim?.id ?? '', sample, 'FRAUD')
    await again()
    expect(await find(json.id)).toMatchObject({ status: 'cancelled', cancel_reason: 'FRAUD' })
    expect(directory.statistics().claims).toBe(before + 1)
  })

  test('has made it, lists it late and makes no second one: it is not refused, and is found', async () => {
    const key = elsewhere()
    const before = directory.statistics().claims
    lost()
    const { json } = await open(key)
    const isLate = (calls: ClaimCalls): ClaimCalls => ({
      ...calls,
      list: (role) => ({
        ...calls.list(role),
        ask: async () => ({
          kind: 'page',
          page: { items: [], unreadable: [], hasMore: false, cursor: undefined },
        }),
      }),
    })
    const late = dict.claimRounds(isLate)
    for (let i = 0; i < 7; i++) {
      dict.pass(16_000)
      await late.due()
      expect(await find(json.id)).toMatchObject({ status: 'opening', refusal: null })
    }
    await again()
    expect(await find(json.id)).toMatchObject({ status: 'open', pending: null })
    expect(directory.statistics().claims).toBe(before + 1)
    await act(json.id, 'cancel', { reason: 'USER_REQUESTED' })
    directory.remove(key)
  })

  test('has not made it, and another has since: it is refused once the list is sure to show all', async () => {
    const key = elsewhere()
    directory.setFaults([{ kind: 'unavailable', operation: 'claim', times: 1 }])
    const { json } = await open(key)
    const rival = { ...owner, ispb: other, account: '777', account_type: 'CACC' } as const
    const claimId = directory.claim({ type: 'PORTABILITY', key, key_type: 'EMAIL', ...rival })
    await again()
    expect(await find(json.id)).toMatchObject({ status: 'opening', pending: 'open' })
    await again(120_001)
    const refusal = 'ClaimAlreadyExistsForKey'
    expect(await find(json.id)).toMatchObject({ status: 'refused', refusal })
    directory.claims.cancel(claimId, sample, 'FRAUD')
    directory.remove(key)
  })

  test('has made it behind more than one round reads: no second one is asked for, and it is found', async () => {
    const key = elsewhere()
    const before = directory.statistics().claims
    lost()
    const { json } = await open(key)
    const toldMs = dict.now().getTime()
    dict.pass(1_800_000)
    // A claim a minute changed since; ours is the last of them.
    const crowd = (calls: ClaimCalls): ClaimCalls => ({
      ...calls,
      list: (role) => {
        const list = calls.list(role)
        if (role === 'donor') return list
        const ask: typeof list.ask = async ({ modifiedAfter, cursor }) => {
          const there = await list.ask({ modifiedAfter: new Date(toldMs - 60_000) })
          if (there.kind === 'refused') return there
          const ours = there.page.items.find((one) => one.key === key)
          if (ours === undefined) throw new Error('the directory did not make it')
          const all = Array.from({ length: 25 }, (_, n) => ({
            ...(n === 24 ? ours : { ...ours, id: ids[n] ?? '', key: `eva@${n}.example.com` }),
            modifiedMs: toldMs + n * 60_000,
          }))
          const from = modifiedAfter?.getTime() ?? 0
          const first = all.findIndex(({ modifiedMs }) => modifiedMs >= from)
          const at = cursor === undefined ? first : Number(cursor)
          // The first of a page is the last of the one before it.
          const items = all.slice(at, at + 2)
          const page = { items, unreadable: [], hasMore: at < 23, cursor: String(at + 2) }
          return { kind: 'page', page }
        }
        return { ...list, ask }
      },
    })
    const ids = Array.from({ length: 24 }, () => crypto.randomUUID())
    await sql`delete from dict_lists where list = 'claims_claimer'`
    const { due, poll } = dict.claimRounds(crowd)
    await due()
    expect(await find(json.id)).toMatchObject({ status: 'opening', pending: 'open' })
    // The list is followed in rounds, and the search begins where it was followed to.
    await poll()
    expect(await find(json.id)).toMatchObject({ status: 'opening', pending: 'open' })
    dict.pass(16_000)
    await due()
    expect(await find(json.id)).toMatchObject({ status: 'open', pending: null })
    expect(directory.statistics().claims).toBe(before + 1)
    await sql`delete from dict_claims where key like 'eva@%'`
    await act(json.id, 'cancel', { reason: 'USER_REQUESTED' })
    directory.remove(key)
    await sql`delete from dict_lists where list = 'claims_claimer'`
  })

  test('has confirmed and completed what we never heard of: the book is the directory’s', async () => {
    const { key } = await ownEntry()
    const claimId = against(key, 'OWNERSHIP')
    await polled()
    const [{ id }] = (await byKey(key)) as [Json]
    lost()
    const { status, json } = await act(id, 'confirm', {})
    expect([status, json.pending, json.status]).toEqual([202, 'confirm', 'waiting_resolution'])
    const busy = await act(id, 'cancel', { reason: 'FRAUD' })
    expect([busy.status, busy.json.pending]).toEqual([409, 'confirm'])
    directory.claims.complete(claimId, other, crypto.randomUUID())
    await again()
    expect(await find(id)).toMatchObject({ status: 'completed', pending: null, refusal: null })
    expect([(await entryOf(key)).status, await isSame('PHONE')]).toEqual(['removed', 'same'])
  })

  test('has completed ours, and the list tells first: the entry is made by the same request', async () => {
    const key = elsewhere('confirm')
    const { json: made } = await open(key)
    await polled()
    await polled()
    lost()
    await again(0)
    expect(await find(made.id)).toMatchObject({ status: 'confirmed', pending: 'complete' })
    expect(await entryOf(key)).toBeUndefined()
    await polled()
    expect((await find(made.id)).status).toBe('confirmed')
    await again()
    expect((await find(made.id)).status).toBe('completed')
    expect([(await entryOf(key)).id, await isSame('EMAIL')]).toEqual([made.id, 'same'])
  })
})

test('a claim is left to whoever asks the directory for as long as its answer may take', async () => {
  const slow = await startDict({ DICT_TIMEOUT: '20' }, { on: dict.database, isOneClock: true })
  try {
    slow.directory.setFaults([{ kind: 'unavailable', operation: 'claim' }])
    const { json } = await slow.call('POST', base, claimBody('quiet@example.com'))
    const [row] = await sql<{ due: Date }[]>`
      select due_at as due from dict_claims where id = ${json.id}`
    expect(row?.due.getTime()).toBe(slow.now().getTime() + 60_000)
    await sql`delete from dict_claims where id = ${json.id}`
  } finally {
    await slow.stop()
  }
})

test('a claim of which there is nothing new is looked at hourly, and soon again only if nobody answers', async () => {
  const { json: made } = await open(elsewhere(undefined, 'PHONE'), 'OWNERSHIP')
  const dueInMs = async () => {
    const [row] = await sql<{ due: Date }[]>`
      select due_at as due from dict_claims where id = ${made.id}`
    return (row?.due.getTime() ?? 0) - dict.now().getTime()
  }
  const due = () => sql`update dict_claims set due_at = ${dict.now()} where id = ${made.id}`
  await due()
  await dict.due()
  expect(await dueInMs()).toBe(3_600_000)
  for (const kind of ['unavailable', 'conflict', 'rate_limited'] as const) {
    directory.setFaults([{ kind, operation: 'claim', times: 1 }])
    await due()
    await dict.due()
    expect([kind, await dueInMs()]).toEqual([kind, 15_000])
  }
  directory.setFaults([])
  await act(made.id, 'cancel', { reason: 'USER_REQUESTED' })
})

describe('a directory that lies', () => {
  test.each(['other_claim', 'garbage', 'no_signature', 'wrong_signature', 'stale_claim'] as const)(
    'by %s is not believed, and asked again',
    async (kind) => {
      const { key } = await ownEntry()
      against(key, 'OWNERSHIP')
      await polled()
      const [{ id }] = (await byKey(key)) as [Json]
      directory.setFaults([{ kind, operation: 'claim', times: 1 }])
      const { status, json } = await act(id, 'confirm', {})
      expect([status, json.pending]).toEqual([202, 'confirm'])
      expect((await entryOf(key)).status).toBe('registered')
      await again()
      expect(['confirmed', 'completed']).toContain((await find(id)).status)
      expect(await isSame('PHONE')).toBe('same')
      // An answer that counts keeps the directory from being left alone.
      expect((await open('nobody@example.com')).status).toBe(422)
    },
  )

  test('about what is over brings nothing back', async () => {
    const { key } = await ownEntry()
    against(key, 'OWNERSHIP')
    await polled()
    const [{ id }] = (await byKey(key)) as [Json]
    await act(id, 'confirm', {})
    directory.setFaults([{ kind: 'stale_claim', operation: 'claim' }])
    await polled()
    await again()
    expect((await find(id)).status).toBe('confirmed')
    expect((await entryOf(key)).status).toBe('removed')
  })

  test('with a list that never ends, or of other claims, adds nothing', async () => {
    const { key } = await ownEntry()
    against(key, 'OWNERSHIP')
    await polled()
    const rows = async () => (await sql`select from dict_claims`).length
    const before = await rows()
    directory.setFaults([{ kind: 'endless_list', operation: 'claim' }])
    const asked = () => Object.values(directory.statistics().answers).reduce((a, b) => a + b, 0)
    const first = asked()
    await polled()
    expect(asked() - first).toBeLessThan(10)
    expect(await rows()).toBe(before)
  })
})

test('what happened before us changes nothing of what is ours since', async () => {
  const { key } = await ownEntry()
  const claimId = against(key, 'OWNERSHIP')
  await sql`delete from dict_lists where list like 'claims%'`
  directory.claims.acknowledge(claimId, own)
  directory.claims.confirm(claimId, own, 'USER_REQUESTED')
  directory.claims.complete(claimId, other, crypto.randomUUID())
  // Another tool of ours led it; the key comes back later, and only then we read of the claim.
  await sql`update dict_entries set status = 'removed', cid = null where key = ${key}`
  directory.remove(key)
  dict.pass(60_000)
  const back = await dict.call('POST', '/v1/dict/entries', {
    key_type: 'PHONE',
    key,
    owner,
    account: account(),
  })
  expect(back.status).toBe(201)
  await polled()
  expect((await byKey(key))[0]).toMatchObject({ role: 'donor', status: 'completed' })
  expect([(await entryOf(key)).status, await isSame('PHONE')]).toEqual(['registered', 'same'])
})

test('claims are listed page by page, newest first', async () => {
  const listed: string[] = []
  let cursor = ''
  do {
    const { json } = await dict.call('GET', `${base}?limit=3${cursor}`)
    listed.push(...json.claims.map((one: Json) => one.created_at))
    cursor = json.next_cursor === null ? '' : `&cursor=${json.next_cursor}`
  } while (cursor !== '')
  expect(listed).toEqual(listed.toSorted().toReversed())
  const [row] = await sql<{ count: number }[]>`select count(*)::int as count from dict_claims`
  expect(listed).toHaveLength(row?.count ?? 0)
})

test('claims that cannot be read keep no honest lookup from its answer', async () => {
  directory.setFaults([{ kind: 'garbage', operation: 'claim' }])
  for (let i = 0; i < 8; i++) {
    await dict.poll().catch(() => undefined)
    expect((await dict.lookUp('joao@example.com')).status).toBe(200)
  }
})
