/** This institution's own entries, on the simulated directory, which judges what is signed. */
import { afterAll, describe, expect, test } from 'bun:test'
import { ApiError } from '#src/platform/http/index.ts'
import type { DirectoryClient } from '../../src/dict/client.ts'
import { createEntryService } from '../../src/dict/entries/service.ts'
import { DirectoryAwayError } from '../../src/dict/exchange.ts'
import { quietLogger } from '../support/database.ts'
import { type Json, startDict } from './support.ts'

const dict = await startDict()
afterAll(dict.stop)

let serial = 0
const entryOf = (more: object = {}) => ({
  key_type: 'EMAIL',
  key: `ana${++serial}@example.com`,
  owner: { tax_id: '98765432100', name: 'Ana  “É” Souza' },
  account: {
    branch: '0001',
    number: String(serial),
    type: 'CACC',
    opened_at: '2020-01-10T03:00:00Z',
  },
  ...more,
})
const base = '/v1/dict/entries'
const register = (body: object = entryOf(), idempotencyKey?: string) =>
  dict.call(
    ...(['POST', base, body] as const),
    idempotencyKey === undefined ? {} : { 'Idempotency-Key': idempotencyKey },
  )
const registered = async (body?: object): Promise<Json> => {
  const { status, json } = await register(body)
  if (status !== 201) throw new Error(JSON.stringify(json))
  return json
}
const entriesThere = (): number => dict.directory.statistics().entries
const away = (times = 1) =>
  dict.directory.setFaults([{ kind: 'unavailable', operation: 'write', times }])
const verify = async (type = 'EMAIL') =>
  (await dict.call('POST', '/v1/dict/verifications', { key_type: type })).json

describe('an entry', () => {
  test('is registered, shown, changed and removed', async () => {
    const asked = entryOf()
    const made = await registered(asked)
    expect(made).toMatchObject({
      key_type: 'EMAIL',
      key: asked.key,
      status: 'registered',
      refusal: null,
      owner: { ...asked.owner, trade_name: null },
      account: { ...asked.account, opened_at: '2020-01-10T03:00:00.000Z' },
    })
    expect(made.cid).toMatch(/^[0-9a-f]{64}$/)
    const path = `${base}/${made.id}`
    expect((await dict.call('GET', path)).json).toEqual(made)
    const account = { number: '777', type: 'SVGS', opened_at: '2024-05-06T03:00:00Z' }
    const changed = await dict.call('PATCH', path, { account })
    expect([changed.status, changed.json]).toMatchObject([
      200,
      { status: 'registered', account: { number: '777', branch: null } },
    ])
    expect(changed.json.cid).not.toBe(made.cid)
    const renamed = await dict.call('PATCH', path, {
      owner: { name: 'Ana Lima', trade_name: 'AL' },
    })
    expect(renamed.json).toMatchObject({ owner: { name: 'Ana Lima', trade_name: 'AL' } })
    expect(await verify()).toMatchObject({ entries: 1, result: 'same' })
    const gone = await dict.call('DELETE', `${path}?reason=ACCOUNT_CLOSURE`)
    expect([gone.status, gone.json.status, gone.json.cid]).toEqual([200, 'removed', null])
    expect((await dict.call('DELETE', path)).status).toBe(200)
    expect((await dict.call('PATCH', path, { account })).status).toBe(409)
    expect(await verify()).toMatchObject({ entries: 0, result: 'same' })
    // The key is free again.
    await registered(asked)
  })

  test('of an EVP gets its key from the directory', async () => {
    const { key, status } = await registered(entryOf({ key_type: 'EVP', key: undefined }))
    expect([key, status]).toEqual([expect.stringMatching(/^[0-9a-f-]{36}$/), 'registered'])
    expect(await verify('EVP')).toMatchObject({ entries: 1, result: 'same' })
  })

  test('of an EVP is changed for a branch or the tax register, never because its owner asks', async () => {
    const { id } = await registered(entryOf({ key_type: 'EVP', key: undefined }))
    const path = `${base}/${id}`
    const account = { number: '778', type: 'CACC', opened_at: '2024-05-06T03:00:00Z' }
    for (const body of [{ account }, { account, reason: 'USER_REQUESTED' }]) {
      const { status, json } = await dict.call('PATCH', path, body)
      expect([status, json.errors]).toMatchObject([400, [{ pointer: '/reason', rule: 'enum' }]])
    }
    const moved = await dict.call('PATCH', path, { account, reason: 'BRANCH_TRANSFER' })
    expect([moved.status, moved.json.account?.number]).toEqual([200, '778'])
    const named = { owner: { name: 'Ana Lima' }, reason: 'RFB_VALIDATION' }
    expect((await dict.call('PATCH', path, named)).json.owner?.name).toBe('Ana Lima')
    expect(await verify('EVP')).toMatchObject({ result: 'same' })
    const gone = await dict.call('DELETE', `${path}?reason=RFB_VALIDATION`)
    expect([gone.status, gone.json.status]).toEqual([200, 'removed'])
  })

  test('is made once by one Idempotency-Key, and a key is registered once', async () => {
    const before = entriesThere()
    const body = entryOf({ key_type: 'EVP', key: undefined })
    const [one, two] = [await register(body, 'evp-1'), await register(body, 'evp-1')]
    expect([one.status, two.status, two.json]).toEqual([201, 201, one.json])
    const mail = entryOf()
    await registered(mail)
    const again = await register(mail)
    expect([again.status, again.json.code]).toEqual([409, 'dict_entry_exists'])
    expect(entriesThere()).toBe(before + 2)
  })

  test.each<[string, object, string, string]>([
    ['no key', { key: undefined }, '/key', 'required'],
    ['a key of another type', { key: '+5561988880001' }, '/key', 'pix_key'],
    ['a key for an EVP', { key_type: 'EVP' }, '/key', 'forbidden'],
    ['another’s CPF', { key_type: 'CPF', key: '12345678909' }, '/key', 'consistency'],
    [
      'a wrong CPF',
      { owner: { tax_id: '98765432101', name: 'A' } },
      '/owner/tax_id',
      'check_digits',
    ],
    ['no account', { account: { type: 'CACC' } }, '/account/number', 'required'],
  ])('with %s is refused before anybody is told', async (_, more, pointer, rule) => {
    const before = entriesThere()
    const { status, json } = await register(entryOf(more))
    expect(status).toBe(400)
    expect(json.errors).toContainEqual(expect.objectContaining({ pointer, rule }))
    expect(entriesThere()).toBe(before)
  })
})

describe('what the directory refuses', () => {
  test('is told with its name, and may be asked for again', async () => {
    const key = 'joao@example.com'
    const { status, json } = await register(entryOf({ key }), 'taken')
    expect([status, json.code, json.directory_code]).toEqual([
      ...[422, 'dict_refused', 'EntryKeyInCustodyOfDifferentParticipant'],
    ])
    expect((await register(entryOf({ key }), 'taken-2')).status).toBe(422)
    const { json: list } = await dict.call('GET', `${base}?key=${key}`)
    expect(list.entries.map((one: Json) => one.status)).toEqual(['refused', 'refused'])
  })
})

describe('a directory that does not answer', () => {
  test('is asked again under the same RequestId until it does', async () => {
    const before = entriesThere()
    away()
    const { status, json } = await register()
    expect([status, json.status, json.cid]).toEqual([202, 'registering', null])
    expect(entriesThere()).toBe(before)
    await dict.retryEntries()
    const found = await dict.call('GET', `${base}/${json.id}`)
    expect([found.json.status, entriesThere()]).toEqual(['registered', before + 1])
  })

  test('since a proxy in front refuses, has not refused', async () => {
    const before = entriesThere()
    dict.directory.setFaults([{ kind: 'error_after_storing', operation: 'write', times: 1 }])
    const { status, json } = await register()
    expect([status, entriesThere()]).toEqual([202, before + 1])
    const path = `${base}/${json.id}`
    const shown = async (): Promise<string> => (await dict.call('GET', path)).json.status
    dict.directory.setFaults([{ kind: 'proxy_refusal', operation: 'write', times: 1 }])
    await dict.retryEntries()
    expect(await shown()).toBe('registering')
    await dict.retryEntries()
    expect([await shown(), entriesThere()]).toEqual(['registered', before + 1])
  })

  test.each(['conflict', 'rate_limited'] as const)(
    'for now (%s) has not refused to compare',
    async (kind) => {
      dict.directory.setFaults([{ kind, times: 1 }])
      expect(await verify()).toMatchObject({ code: 'dict_unavailable', retryable: true })
      expect((await verify()).result).toBe('same')
    },
  )

  test.each(['conflict', 'rate_limited'] as const)(
    'for now (%s) has not refused: what it did before is found, and nothing wanted is dropped',
    async (kind) => {
      const before = entriesThere()
      const busy = () => dict.directory.setFaults([{ kind, operation: 'write', times: 1 }])
      dict.directory.setFaults([{ kind: 'error_after_storing', operation: 'write', times: 1 }])
      const { json } = await register()
      expect([json.status, entriesThere()]).toEqual(['registering', before + 1])
      const path = `${base}/${json.id}`
      const shown = async (): Promise<string> => (await dict.call('GET', path)).json.status
      busy()
      await dict.retryEntries()
      expect(await shown()).toBe('registering')
      await dict.retryEntries()
      expect(await shown()).toBe('registered')
      busy()
      const changing = await dict.call('PATCH', path, { owner: { name: 'Later' } })
      expect([changing.status, changing.json.status]).toEqual([202, 'changing'])
      await dict.retryEntries()
      busy()
      const removing = await dict.call('DELETE', path)
      expect([removing.status, removing.json.status]).toEqual([202, 'removing'])
      await dict.retryEntries()
      expect([await shown(), entriesThere()]).toEqual(['removed', before])
    },
  )

  test('but has done what it was asked has done it once', async () => {
    const before = entriesThere()
    const lost = () =>
      dict.directory.setFaults([{ kind: 'error_after_storing', operation: 'write', times: 1 }])
    lost()
    const { status, json } = await register(entryOf({ key_type: 'EVP', key: undefined }))
    expect([status, entriesThere()]).toEqual([202, before + 1])
    await dict.retryEntries()
    const path = `${base}/${json.id}`
    expect((await dict.call('GET', path)).json).toMatchObject({ status: 'registered' })
    expect(entriesThere()).toBe(before + 1)
    lost()
    const removing = await dict.call('DELETE', path)
    expect([removing.status, removing.json.status]).toEqual([202, 'removing'])
    const wish = { owner: { name: 'B' }, reason: 'RFB_VALIDATION' }
    const other = await dict.call('PATCH', path, wish)
    expect([other.status, other.json.entry_status]).toEqual([409, 'removing'])
    await dict.retryEntries()
    expect((await dict.call('GET', path)).json).toMatchObject({ status: 'removed' })
    expect(entriesThere()).toBe(before)
    expect(await verify('EVP')).toMatchObject({ result: 'same' })
  })

  test('but about another entry is asked again', async () => {
    const asked = entryOf()
    const strange = () =>
      dict.directory.setFaults([{ kind: 'other_key', operation: 'write', times: 1 }])
    strange()
    const { status, json } = await register(asked)
    expect([status, json]).toMatchObject([202, { status: 'registering', key: asked.key }])
    await dict.retryEntries()
    const path = `${base}/${json.id}`
    const shown = async () => (await dict.call('GET', path)).json
    expect(await shown()).toMatchObject({ status: 'registered', key: asked.key })
    strange()
    const changing = await dict.call('PATCH', path, { owner: { name: 'B' } })
    expect([changing.status, changing.json.status]).toEqual([202, 'changing'])
    await dict.retryEntries()
    expect(await shown()).toMatchObject({ status: 'registered', owner: { name: 'B' } })
    expect(await verify()).toMatchObject({ result: 'same' })
  })

  describe('has done what it refuses afterwards', () => {
    const lost = () =>
      dict.directory.setFaults([{ kind: 'error_after_storing', operation: 'write', times: 1 }])
    const shown = async (path: string) => {
      const { status, refusal, cid, owner } = (await dict.call('GET', path)).json
      return { status, refusal, cid, name: owner.name }
    }
    const actor = { id: 'key', requestId: undefined }
    const serviceWith = (calls: object) => {
      const client = calls as unknown as DirectoryClient
      return createEntryService({ sql: dict.sql, client, logger: quietLogger, now: dict.now })
    }
    const movedAway = (key: string) => {
      dict.directory.remove(key)
      takenElsewhere(key)
    }
    /** Whoever asks so much later finds what was wanted before, not answered yet. */
    const laterMs = 150
    const claimedElsewhere = (key: string) =>
      dict.directory.claim({
        type: 'PORTABILITY',
        key_type: 'EMAIL',
        key,
        tax_id: '98765432100',
        name: 'Ana Souza',
        ispb: '87654321',
        account: '1',
        account_type: 'CACC',
      })
    const takenElsewhere = (key: string) =>
      dict.directory.register({
        key_type: 'EMAIL',
        key,
        tax_id: '11144477735',
        name: 'Bia',
        ispb: '87654321',
        account: '1',
        account_type: 'CACC',
      })

    test('a removal, since the key has come to another institution', async () => {
      const { id, key } = await registered()
      const path = `${base}/${id}`
      lost()
      expect((await dict.call('DELETE', path)).status).toBe(202)
      takenElsewhere(key)
      away()
      await dict.retryEntries()
      expect(await shown(path)).toMatchObject({ status: 'removing' })
      await dict.retryEntries()
      expect(await shown(path)).toMatchObject({ status: 'removed', refusal: null, cid: null })
      expect(await verify()).toMatchObject({ result: 'same' })
      dict.directory.remove(key)
    })

    test('a change, since the key went away after it', async () => {
      const { id, key } = await registered()
      const path = `${base}/${id}`
      lost()
      expect((await dict.call('PATCH', path, { owner: { name: 'B' } })).status).toBe(202)
      movedAway(key)
      await dict.retryEntries()
      expect(await shown(path)).toMatchObject({
        status: 'removed',
        refusal: 'Forbidden',
        cid: null,
        name: 'Ana  “É” Souza',
      })
      expect(await verify()).toMatchObject({ result: 'same' })
      dict.directory.remove(key)
    })

    test('a change, which it has under the identifier that it leads to', async () => {
      const { id, cid, key } = await registered()
      const no = (status: number, code: string) => ({ kind: 'refused', status, code })
      const service = serviceWith({
        update: async () => no(403, 'Forbidden'),
        entryOf: async (asked: string) =>
          asked === cid
            ? no(404, 'NotFound')
            : { kind: 'entry', entry: { ownedSince: '2026-01-01T03:00:00Z' } },
      })
      const { entry, isDone } = await service.change(id, { owner: { name: 'B' } }, actor)
      expect([isDone, entry]).toMatchObject([
        true,
        { status: 'registered', refusal: null, wanted: null, content: { owner: { name: 'B' } } },
      ])
      expect(entry.cid).not.toBe(cid)
      await dict.sql`delete from dict_entries where id = ${id}`
      dict.directory.remove(key)
    })

    test('or has not: then the entry is as it was', async () => {
      const { id, cid, key } = await registered()
      const path = `${base}/${id}`
      claimedElsewhere(key)
      const { status } = await dict.call('DELETE', path)
      expect([status, await shown(path)]).toMatchObject([422, { status: 'registered', cid }])
    })

    test('or has not, and both are told that remove it together', async () => {
      const { id, key } = await registered()
      claimedElsewhere(key)
      dict.directory.setFaults([{ kind: 'latency', delayMs: 8 * laterMs, operation: 'write' }])
      const remove = () => dict.call('DELETE', `${base}/${id}`)
      const both = await Promise.all([remove(), Bun.sleep(laterMs).then(remove)])
      dict.directory.setFaults([])
      expect(both.map(({ status, json }) => [status, json.directory_code])).toEqual(
        Array.from({ length: 2 }, () => [422, 'EntryLockedByClaim']),
      )
    })

    test('or has not, and both are told that register it together, under one Idempotency-Key', async () => {
      const asked = entryOf()
      takenElsewhere(asked.key)
      dict.directory.setFaults([{ kind: 'latency', delayMs: 8 * laterMs, operation: 'write' }])
      const ask = () => register(asked, asked.key)
      const both = await Promise.all([ask(), Bun.sleep(laterMs).then(ask)])
      dict.directory.setFaults([])
      expect(both.map(({ status }) => status)).toEqual([422, 422])
      expect((await ask()).status).toBe(422)
    })

    test('or has not, and knows the key as ours by another identifier: the same', async () => {
      const { id, cid, key } = await registered()
      const no = (status: number, code: string) => ({ kind: 'refused', status, code })
      const service = serviceWith({
        remove: async () => no(400, 'EntryLockedByClaim'),
        update: async () => no(400, 'EntryLockedByClaim'),
        entryOf: async () => no(404, 'NotFound'),
      })
      for (const wish of [{ removal: 'USER_REQUESTED' }, { owner: { name: 'B' } }] as const) {
        const refused = await service.change(id, wish, actor).catch((error) => error)
        expect(refused).toBeInstanceOf(ApiError)
        expect(await shown(`${base}/${id}`)).toMatchObject({ status: 'registered', cid })
      }
      await dict.sql`delete from dict_entries where id = ${id}`
      dict.directory.remove(key)
    })
  })

  test('is asked for one change at a time: the same again is one, another has to wait', async () => {
    const { id } = await registered()
    const path = `${base}/${id}`
    away(2)
    const first = await dict.call('PATCH', path, { owner: { name: 'First' } })
    const again = await dict.call('PATCH', path, { owner: { name: 'First' } })
    expect([first.status, again.status]).toEqual([202, 202])
    const other = await dict.call('PATCH', path, { owner: { name: 'Other' } })
    expect([other.status, other.json.code, other.json.entry_status]).toEqual([
      ...[409, 'dict_entry_not_registered', 'changing'],
    ])
    await dict.retryEntries()
    expect((await dict.call('GET', path)).json.owner.name).toBe('First')
    const later = await dict.call('PATCH', path, { owner: { name: 'Other' } })
    expect([later.status, later.json.owner.name]).toEqual([200, 'Other'])
    away()
    expect((await dict.call('DELETE', path)).status).toBe(202)
    const reason = await dict.call('DELETE', `${path}?reason=FRAUD`)
    expect([reason.status, reason.json.entry_status]).toEqual([409, 'removing'])
    await dict.retryEntries()
  })

  test('or late, takes nothing back that was asked for since', async () => {
    const { id } = await registered()
    const answered = { kind: 'kept', entry: { key: 'of no use', ownedSince: '2026-01-01' } }
    const late = Promise.withResolvers<typeof answered>()
    const answers = [
      () => late.promise,
      async () => answered,
      () => Promise.reject(new DirectoryAwayError('timeout', 'no answer')),
    ]
    const service = createEntryService({
      sql: dict.sql,
      client: { update: () => answers.shift()?.() } as unknown as DirectoryClient,
      logger: quietLogger,
      now: dict.now,
    })
    const actor = { id: 'key', requestId: undefined }
    const wish = (name: string) => service.change(id, { owner: { name } }, actor)
    const first = wish('First')
    while (answers.length === 3) await Bun.sleep(1)
    await service.retry(id)
    expect((await wish('Second')).isDone).toBe(false)
    late.resolve(answered)
    expect(await first).toMatchObject({ isDone: false, entry: { status: 'changing' } })
    expect(await service.find(id)).toMatchObject({
      content: { owner: { name: 'First' } },
      wanted: { content: { owner: { name: 'Second' } } },
    })
    await dict.retryEntries()
    expect(await service.find(id)).toMatchObject({ content: { owner: { name: 'Second' } } })
  })

  test('is not asked whether the sets are the same', async () => {
    away()
    const { status, json } = await dict.call('POST', '/v1/dict/verifications', { key_type: 'CPF' })
    expect([status, json.code]).toEqual([503, 'dict_unavailable'])
  })
})

test('an entry that the directory alone has, or we alone, makes the sets different', async () => {
  const { key } = await registered()
  expect(await verify()).toMatchObject({ result: 'same' })
  dict.directory.remove(key)
  expect(await verify()).toMatchObject({ result: 'different' })
})

test('entries are listed page by page, newest first, and by their key', async () => {
  const made: string[] = []
  for (let i = 0; i < 5; i++) {
    dict.pass(1)
    made.push((await registered()).key)
  }
  const listed: string[] = []
  let cursor = ''
  do {
    const { json } = await dict.call('GET', `${base}?limit=2${cursor}`)
    listed.push(...json.entries.map((one: Json) => one.key))
    cursor = json.next_cursor === null ? '' : `&cursor=${json.next_cursor}`
  } while (cursor !== '')
  expect(listed.slice(0, 5)).toEqual(made.toReversed())
  expect(new Set(listed.filter((key) => key !== null)).size).toBeGreaterThan(5)
  const { json } = await dict.call('GET', `${base}?key=${made[2]}`)
  expect(json.entries).toHaveLength(1)
})

test('a directory that takes nothing written is looked up in all the same', async () => {
  dict.directory.setFaults([{ kind: 'unavailable', operation: 'write' }])
  for (let i = 0; i < 6; i++) expect((await register()).status).toBe(202)
  expect((await dict.lookUp('joao@example.com')).status).toBe(200)
})
