/**
 * Which of our keys and the directory's differ, by file and by events, and mending them; among 10 000 entries, and with
 * TRILHO_LONG=1 among a million.
 */
import { afterAll, beforeEach, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { randomUUID } from 'node:crypto'
import { createLoop } from '#src/platform/jobs/index.ts'
import type { ReconciliationCalls } from '../../src/dict/comparisons/calls.ts'
import { readCids } from '../../src/dict/comparisons/difference.ts'
import type { ComparisonMethod } from '../../src/dict/comparisons/domain.ts'
import { createComparisonService } from '../../src/dict/comparisons/service.ts'
import { addComparison } from '../../src/dict/comparisons/store.ts'
import { cidFor, type EntryContent } from '../../src/dict/entries/domain.ts'
import { DirectoryAwayError } from '../../src/dict/exchange.ts'
import { quietLogger } from '../support/database.ts'
import { type Json, startDict } from './support.ts'

const entries = process.env['TRILHO_LONG'] === '1' ? 1_000_000 : 10_000
const atOnce = 10_000
setDefaultTimeout(entries > 10_000 ? 600_000 : 60_000)

const dict = await startDict()
const { directory, sql } = dict
const { compare } = dict.jobs()
afterAll(dict.stop)
beforeEach(() => directory.setFaults([]))

const ispb = '12345678'
const base = '/v1/dict/comparisons'

const content = (number: string, name = 'João Lima'): EntryContent => ({
  owner: { taxIdNumber: '98765432100', name },
  account: { participant: ispb, branch: undefined, accountNumber: number, accountType: 'CACC' },
  openedAt: '2020-01-01T03:00:00.000Z',
})
let serial = 0
/** In the directory alone, as if another system of ours had put it there. */
const registerThere = (
  key: string,
  name?: string,
  id: string = randomUUID(),
  number = String(++serial),
): string => {
  const { owner } = content(number, name)
  directory.register(
    {
      key_type: 'EMAIL',
      key,
      name: owner.name,
      tax_id: owner.taxIdNumber,
      ispb,
      account: number,
      account_type: 'CACC',
    },
    id,
  )
  return number
}
const keepHere = async (
  rows: readonly { id: string; key: string; content: EntryContent }[],
): Promise<void> => {
  const values = rows.map((row) => ({
    id: row.id,
    key: row.key,
    content: JSON.stringify(row.content),
    cid: cidFor({ id: row.id, keyType: 'EMAIL' }, row.key, row.content),
  }))
  await sql`
    insert into dict_entries
      (id, created_by, key_type, key, status, content, cid, created_at, changed_at)
    select id, 'test', 'EMAIL', key, 'registered', content, cid, now(), now()
    from jsonb_to_recordset(${JSON.stringify(values)}::text::jsonb)
      as r(id uuid, key text, content text, cid text)`
}
/** Compares, with the directory's time passing until it is done. */
const compared = async (body: object): Promise<Json> => {
  const { status, json } = await dict.call('POST', base, { key_type: 'EMAIL', ...body })
  expect([status, json.status]).toEqual([202, 'running'])
  for (let i = 0; i < 3; i++) {
    dict.passThere(11_000)
    await compare()
  }
  const found = (await dict.call('GET', `${base}/${json.id}`)).json
  const { json: list } = await dict.call('GET', `${base}/${json.id}/differences`)
  return { ...found, differences: list.differences }
}
const byFile = () => compared({ method: 'file' })
const verified = async (): Promise<string> =>
  (await dict.call('POST', '/v1/dict/verifications', { key_type: 'EMAIL' })).json.result
const mend = (id: string, key: string, keep: string) =>
  dict.call('POST', `${base}/${id}/mend`, { key, keep })

test(`among ${entries} entries`, async () => {
  for (let from = 0; from < entries; from += atOnce) {
    const rows = Array.from({ length: atOnce }, (_, i) => {
      const [id, key] = [randomUUID(), `k${from + i}@example.com`]
      return { id, key, content: content(registerThere(key, undefined, id)) }
    })
    await keepHere(rows)
  }
  expect(await byFile()).toMatchObject({
    status: 'done',
    entries,
    only_ours: 0,
    only_theirs: 0,
    complete: true,
    differences: [],
  })
})

/** A key that we alone have, one that the directory alone has, and one of which both have another content. */
const differ = async (name: string): Promise<readonly string[]> => {
  const [mine, yours, both] = ['mine', 'yours', 'both'].map((one) => `${one}-${name}@example.com`)
  if (mine === undefined || yours === undefined || both === undefined) throw new Error('no keys')
  await keepHere([
    { id: randomUUID(), key: mine, content: content('900001') },
    { id: randomUUID(), key: both, content: content('900002', 'Maria') },
  ])
  registerThere(yours)
  registerThere(both)
  return [both, mine, yours]
}
const shown = ({ differences }: Json) =>
  differences.map(({ key, entry_id, theirs }: Json) => [key, entry_id !== null, theirs !== null])

describe.each(['file', 'events'])('by %s', (method) => {
  const ask = async (since: Date): Promise<Json> =>
    method === 'file' ? byFile() : compared({ method, since: since.toISOString() })

  test.each(['ours', 'theirs'])('what differs is found, and %s is kept', async (keep) => {
    const since = new Date()
    dict.passThere(1)
    const [both = '', mine = '', yours = ''] = await differ(`${method}-${keep}`)
    expect(await verified()).toBe('different')
    const found = await ask(since)
    expect(found).toMatchObject({ status: 'done', only_ours: 2, only_theirs: 2, complete: true })
    expect(shown(found)).toEqual([
      [both, true, true],
      [mine, true, false],
      [yours, false, true],
    ])
    for (const key of [both, mine, yours]) {
      const all = await Promise.all([1, 2, 3].map(() => mend(found.id, key, keep)))
      for (const { status, json } of [...all, await mend(found.id, key, keep)]) {
        expect([key, status, json]).toMatchObject([key, 200, { key, kept: keep }])
      }
    }
    const other = await mend(found.id, both, keep === 'ours' ? 'theirs' : 'ours')
    expect([other.status, other.json.code]).toEqual([409, 'dict_difference_mended'])
    await dict.retryEntries()
    expect(await verified()).toBe('same')
    const { json } = await dict.call('GET', `/v1/dict/entries?key=${both}`)
    const [entry] = json.entries.filter((one: Json) => one.status === 'registered')
    expect(entry.owner.name).toBe(keep === 'ours' ? 'Maria' : 'João Lima')
    expect(await byFile()).toMatchObject({ only_ours: 0, only_theirs: 0, complete: true })
  })
})

test.each(['ours', 'theirs'])(
  'what has changed since is not overwritten by keeping %s',
  async (keep) => {
    const [both = '', mine = '', yours = ''] = await differ(`since-${keep}`)
    const old = await byFile()
    directory.remove(yours)
    const { entry_id } = old.differences.find(({ key }: Json) => key === mine)
    registerThere(mine, undefined, entry_id, '900001')
    directory.remove(both)
    registerThere(both, 'Ana')
    for (const key of [both, mine, yours]) {
      const { status, json } = await mend(old.id, key, keep)
      expect([key, status, json.code]).toEqual([key, 409, 'dict_difference_mended'])
    }
    const found = await byFile()
    for (const { key } of found.differences)
      expect((await mend(found.id, key, keep)).status).toBe(200)
    expect(await verified()).toBe('same')
  },
)

test('an entry of ours that was changed since is not overwritten by what the directory had', async () => {
  const [both = ''] = await differ('changed')
  const { id, differences } = await byFile()
  const { entry_id } = differences.find(({ key }: Json) => key === both)
  const path = `/v1/dict/entries/${entry_id}`
  const changed = await dict.call('PATCH', path, { owner: { name: 'Bia' } })
  expect([changed.status, (await mend(id, both, 'theirs')).status]).toEqual([200, 409])
  expect((await dict.call('GET', path)).json.owner.name).toBe('Bia')
  const found = await byFile()
  for (const { key } of found.differences) await mend(found.id, key, 'theirs')
  expect(await verified()).toBe('same')
})

test('what has become ours since is not taken from the directory', async () => {
  const key = 'twice@example.com'
  registerThere(key)
  const old = await byFile()
  const found = await byFile()
  expect((await mend(found.id, key, 'theirs')).status).toBe(200)
  for (const keep of ['ours', 'theirs']) {
    const { status, json } = await mend(old.id, key, keep)
    expect([status, json.code]).toEqual([409, 'dict_difference_mended'])
  }
  const { json } = await dict.call('GET', `/v1/dict/entries?key=${key}`)
  expect(json.entries.map(({ status }: Json) => status)).toEqual(['registered'])
  expect(await verified()).toBe('same')
})

test('a random key that waits for its answer is not taken from the directory', async () => {
  const id = randomUUID()
  directory.register(
    {
      key_type: 'EVP',
      name: 'João Lima',
      tax_id: '98765432100',
      ispb,
      account: '900005',
      account_type: 'CACC',
    },
    id,
  )
  const old = await compared({ key_type: 'EVP', method: 'file' })
  const { key } = old.differences[0]
  expect(shown(old)).toEqual([[key, false, true]])
  await sql`
    insert into dict_entries (id, created_by, key_type, status, content, created_at, changed_at)
    values (${id}, 'test', 'EVP', 'registering', ${JSON.stringify(content('900005'))}, now(), now())`
  const { status, json } = await mend(old.id, key, 'ours')
  expect([status, json.code]).toEqual([409, 'dict_difference_mended'])
  await sql`delete from dict_entries where id = ${id}`
  expect((await mend(old.id, key, 'theirs')).status).toBe(200)
})

test('a registration whose answer was lost is no difference', async () => {
  const body = {
    key_type: 'EMAIL',
    key: 'lost@example.com',
    owner: { tax_id: '98765432100', name: 'Ana' },
    account: { number: '900006', type: 'CACC', opened_at: '2020-01-10T03:00:00Z' },
  }
  directory.setFaults([{ kind: 'error_after_storing', operation: 'write', times: 1 }])
  expect((await dict.call('POST', '/v1/dict/entries', body)).status).toBe(202)
  expect(await byFile()).toMatchObject({ only_theirs: 0, differences: [] })
  await dict.retryEntries()
  expect(await verified()).toBe('same')
})

test('what the directory does not answer is mended when it does', async () => {
  const [, mine = ''] = await differ('later')
  const found = await byFile()
  directory.setFaults([{ kind: 'error_after_storing', operation: 'write' }])
  expect((await mend(found.id, mine, 'ours')).status).toBe(200)
  directory.setFaults([])
  await dict.retryEntries()
  for (const { key, kept } of found.differences)
    if (kept === null) await mend(found.id, key, 'ours')
  await dict.retryEntries()
  expect(await verified()).toBe('same')
})

describe('what the directory refuses is not kept', () => {
  const foreign = '11144477735'
  const bookOf = async (key: string): Promise<Json> => {
    const { json } = await dict.call('GET', `/v1/dict/entries?key=${key}`)
    return json.entries.find(({ status }: Json) => status === 'registered')
  }
  const keptOf = async (id: string, key: string): Promise<Json> => {
    const { json } = await dict.call('GET', `${base}/${id}/differences`)
    return json.differences.find((one: Json) => one.key === key)
  }
  /** Keeps ours, twice and under a key, and sees that nothing was. */
  const refusedToKeep = async (id: string, key: string, code: string) => {
    const before = await bookOf(key)
    const difference = await keptOf(id, key)
    const body = { key, keep: 'ours' }
    const once = { 'Idempotency-Key': `mend ${key}` }
    for (const headers of [{}, once, once]) {
      const { status, json } = await dict.call('POST', `${base}/${id}/mend`, body, headers)
      expect([status, json.code, json.directory_code]).toEqual([422, 'dict_refused', code])
      expect(await keptOf(id, key)).toEqual(difference)
      const { refusal: _, owned_since: __, ...after } = (await bookOf(key)) ?? { refusal: null }
      const { refusal: ___, owned_since: ____, ...stood } = before ?? { refusal: null }
      expect(after).toEqual(stood)
    }
  }
  /** Registers a key for an owner who is not ours. */
  const putThere = (key: string, at: string, id = randomUUID()) =>
    directory.register(
      {
        key_type: 'EMAIL',
        key,
        name: 'Bia',
        tax_id: foreign,
        ispb: at,
        account: String(++serial),
        account_type: 'CACC',
      },
      id,
    )

  test('of a key that is another’s there', async () => {
    const [, mine = ''] = await differ('refused-mine')
    putThere(mine, '87654321')
    const { id } = await byFile()
    await refusedToKeep(id, mine, 'EntryKeyOwnedByDifferentPerson')
    directory.remove(mine)
    for (const { key } of (await byFile()).differences) await mend(id, key, 'theirs')
    expect(await verified()).toBe('same')
  })

  test.each(['another request', 'the same request'])('of an entry by %s', async (by) => {
    const key = `${by.replaceAll(' ', '-')}@example.com`
    const ours = randomUUID()
    await keepHere([{ id: ours, key, content: content('900003', 'Maria') }])
    putThere(key, ispb, by === 'the same request' ? ours : randomUUID())
    const { id } = await byFile()
    await refusedToKeep(id, key, 'EntryTaxIdNumberByDifferentOwner')
    expect((await mend(id, key, 'theirs')).json.kept).toBe('theirs')
    expect(await verified()).toBe('same')
  })

  test('of an entry that may not be removed there', async () => {
    const key = 'claimed@example.com'
    registerThere(key)
    const { id } = await byFile()
    directory.claim({
      type: 'PORTABILITY',
      key_type: 'EMAIL',
      key,
      name: 'João Lima',
      tax_id: '98765432100',
      ispb: '87654321',
      account: '1',
      account_type: 'CACC',
    })
    await refusedToKeep(id, key, 'EntryLockedByClaim')
    expect((await mend(id, key, 'theirs')).json.kept).toBe('theirs')
    expect(await verified()).toBe('same')
  })

  test('when it answers later, either', async () => {
    const [, mine = ''] = await differ('refused-later')
    putThere(mine, '87654321')
    const { id, differences } = await byFile()
    directory.setFaults([{ kind: 'unavailable', operation: 'write' }])
    expect((await mend(id, mine, 'ours')).json.kept).toBe('ours')
    expect(await bookOf(mine)).toBeUndefined()
    directory.setFaults([])
    await dict.retryEntries()
    expect((await keptOf(id, mine)).kept).toBeNull()
    expect((await bookOf(mine)).id).toBe((await keptOf(id, mine)).entry_id)
    for (const { key } of differences) await mend(id, key, 'theirs')
    expect(await verified()).toBe('same')
  })

  test('nor a random key that the directory lacks', async () => {
    const key = randomUUID()
    const id = randomUUID()
    await sql`
      insert into dict_entries
        (id, created_by, key_type, key, status, content, cid, created_at, changed_at)
      values (${id}, 'test', 'EVP', ${key}, 'registered', ${JSON.stringify(content('900004'))},
        ${cidFor({ id, keyType: 'EVP' }, key, content('900004'))}, now(), now())`
    const found = await compared({ key_type: 'EVP', method: 'file' })
    const { status, json } = await mend(found.id, key, 'ours')
    expect([status, json.errors[0].pointer]).toEqual([400, '/keep'])
    expect(await bookOf(key)).toMatchObject({ id })
    expect((await mend(found.id, key, 'theirs')).json.kept).toBe('theirs')
  })
})

test('each question is progress, and who has lost the round asks no more and ends nothing', async () => {
  const keys = await differ('taken-over')
  const asked = await dict.call('POST', base, { key_type: 'EMAIL', method: 'file' })
  const lost = new AbortController()
  const answered = () => Object.values(directory.statistics().answers).reduce((a, b) => a + b, 0)
  const round = (until: number) => ({
    advance: () => answered() === until && lost.abort(),
    end: () => {},
    signal: lost.signal,
  })
  const read = async () => (await dict.call('GET', `${base}/${asked.json.id}`)).json
  dict.passThere(11_000)
  await compare()
  dict.passThere(11_000)
  // The file, where it is, and the first question; the second goes out with its progress.
  const before = answered()
  await compare(round(before + 3))
  expect([answered() - before, (await read()).status]).toEqual([4, 'running'])
  await compare()
  expect(await read()).toMatchObject({ status: 'done', only_ours: 2, only_theirs: 2 })
  for (const key of keys) await mend(asked.json.id, key, 'theirs')
})

test('a file that comes slowly is progress piece by piece, and is given up with its round', async () => {
  const pieces = 4
  let sent = 0
  const dripping = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch: () =>
      new Response(
        new ReadableStream({
          pull: async (controller) => {
            await Bun.sleep(50)
            if (sent++ < pieces) controller.enqueue(Buffer.from(`${'0'.repeat(64)}\n`))
            else await new Promise(() => {})
          },
        }),
      ),
  })
  const lost = new AbortController()
  let advances = 0
  const wire = dict.wire()
  const read = readCids(
    wire.fetchFile(`http://127.0.0.1:${dripping.port}/`, lost.signal),
    { bytes: 65 * 10_000, sha256: '' },
    { advance: () => ++advances === pieces - 1 && lost.abort() },
  )
  await expect(read).rejects.toThrow(DirectoryAwayError)
  expect(advances).toBe(pieces - 1)
  await dripping.stop(true)
})

test('a file that the directory cannot make ends its comparison at once, and no other’s', async () => {
  directory.setFaults([{ kind: 'failed_file', operation: 'lookup' }])
  expect(await byFile()).toMatchObject({
    status: 'failed',
    failure: 'the directory says ERROR of the file',
  })
  directory.setFaults([])
  expect(await byFile()).toMatchObject({ status: 'done' })
})

test('a file that lacks an entry, or is damaged on its way, makes no false difference', async () => {
  directory.setFaults([{ kind: 'lost_cid', operation: 'lookup', times: 1 }])
  expect(await byFile()).toMatchObject({ status: 'done', only_ours: 0, differences: [] })
  directory.setFaults([{ kind: 'damaged_file', operation: 'lookup', times: 1 }])
  expect(await byFile()).toMatchObject({ status: 'done', only_ours: 0, only_theirs: 0 })
})

test('events since too late do not explain what differs, and say so', async () => {
  const [both = '', mine = '', yours = ''] = await differ('before')
  await sql`
    update dict_entries set changed_at = now() - interval '1 day' where key in (${mine}, ${both})`
  dict.passThere(60_000)
  const since = new Date(dict.nowThere() - 30_000).toISOString()
  expect(await compared({ method: 'events', since })).toMatchObject({
    status: 'done',
    complete: false,
    differences: [],
  })
  const { id } = await byFile()
  for (const key of [both, mine, yours]) await mend(id, key, 'theirs')
  expect(await verified()).toBe('same')
})

test('one runs at a time, and what is asked wrongly is refused', async () => {
  const body = { key_type: 'CPF', method: 'file' }
  expect((await dict.call('POST', base, body)).status).toBe(202)
  const second = await dict.call('POST', base, body)
  expect([second.status, second.json.code]).toEqual([409, 'dict_comparison_running'])
  for (const wrong of [{ method: 'events' }, { method: 'file', since: new Date() }]) {
    const { status, json } = await dict.call('POST', base, { key_type: 'EVP', ...wrong })
    expect([status, json.errors[0].pointer]).toEqual([400, '/since'])
  }
  expect((await mend(randomUUID(), 'x', 'ours')).status).toBe(404)
})

describe('a comparison that takes long', () => {
  const minuteMs = 60_000
  const away = () => Promise.reject(new DirectoryAwayError('timeout', 'no answer'))
  const unmade = async () => ({ kind: 'file', id: 1, content: undefined })
  /** One whose directory answers about its file as `answer` says. */
  const begun = async (method: ComparisonMethod = 'file') => {
    let nowMs = Date.now()
    let answer: () => Promise<unknown> = unmade
    const ask = (...asked: unknown[]) => {
      questions.push(asked)
      return answer()
    }
    const questions: unknown[][] = []
    const service = createComparisonService({
      sql,
      ispb,
      logger: quietLogger,
      now: () => new Date(nowMs),
      calls: { requestFile: ask, findFile: ask, events: ask } as unknown as ReconciliationCalls,
      fetchFile: () => {
        throw new Error('there is no file')
      },
      entries: {
        advance: () => {
          throw new Error('nothing is mended')
        },
      },
    })
    const id = randomUUID()
    const none = { entries: null, onlyOurs: null, onlyTheirs: null, isComplete: null }
    await addComparison(sql, {
      ...none,
      id,
      keyType: 'PHONE',
      method,
      since: method === 'file' ? null : new Date(nowMs - 1_000),
      status: 'running',
      fileId: null,
      failure: null,
      createdAt: new Date(nowMs),
      endedAt: null,
    })
    return {
      questions,
      /** One round, so much later. */
      after: async (minutes: number, as: () => Promise<unknown>) => {
        nowMs += minutes * minuteMs
        answer = as
        const signal = new AbortController().signal
        await service.advance({ ...createLoop('comparisons').begin(), signal })
        const { status, failure } = await service.find(id)
        return [status, failure]
      },
    }
  }

  test('waits for hours for the file, and not for ever', async () => {
    const { after } = await begun()
    expect(await after(0, unmade)).toEqual(['running', null])
    expect(await after(359, unmade)).toEqual(['running', null])
    expect(await after(1, unmade)).toEqual(['failed', 'the file was not made in time'])
  })

  test('is not ended by an answer that is lost late, but by a directory that stays away', async () => {
    const { after } = await begun()
    expect(await after(60, away)).toEqual(['running', null])
    expect(await after(1, unmade)).toEqual(['running', null])
    expect(await after(60, away)).toEqual(['running', null])
    expect(await after(14, away)).toEqual(['running', null])
    expect(await after(1, away)).toEqual(['failed', 'no answer'])
  })

  test('waits where the directory has had enough, and goes on from where it was', async () => {
    const { after, questions } = await begun('events')
    const limited = (retryAfterMs?: number) => ({
      kind: 'refused',
      status: 429,
      code: 'RateLimited',
      retryAfterMs,
    })
    const zero = '0'.repeat(64)
    const pageTo = (endTime: string, hasMore: boolean) => ({
      kind: 'events',
      events: [],
      hasMore,
      endTime,
      check: zero,
    })
    const answers: object[] = [pageTo('2026-01-02T00:00:00Z', true), limited()]
    const next = async () => answers.shift()
    expect(await after(0, next)).toEqual(['running', null])
    expect(questions).toHaveLength(2)
    // No token is taken before there are some again.
    expect(await after(0.5, next)).toEqual(['running', null])
    expect(questions).toHaveLength(2)
    answers.push(limited(90_000))
    expect(await after(0.5, next)).toEqual(['running', null])
    expect(await after(1, next)).toEqual(['running', null])
    expect(questions).toHaveLength(3)
    for (let i = 0; i < 20; i++) {
      answers.push(limited())
      expect(await after(2, next)).toEqual(['running', null])
    }
    answers.push(pageTo('2026-01-03T00:00:00Z', false))
    expect((await after(1, next))[0]).toBe('done')
    expect(questions.slice(1).map(([, from]) => from)).toEqual(
      Array.from({ length: 23 }, () => '2026-01-02T00:00:00Z'),
    )
  })

  test('is not ended by one lost answer where the directory answers since, if only that it has had enough', async () => {
    const { after } = await begun('events')
    const limited = async () => ({ kind: 'refused', status: 429, code: 'RateLimited' })
    expect(await after(0, away)).toEqual(['running', null])
    for (let i = 0; i < 16; i++) expect(await after(1, limited)).toEqual(['running', null])
    expect((await after(360, limited))[0]).toBe('failed')
  })

  test('is not ended by answers that are lost between pages that are read', async () => {
    const { after } = await begun('events')
    let pages = 0
    /** Each round reads one page, and no more. */
    const everySecond = () => {
      if (++pages % 2 === 0) return away()
      const endTime = new Date(Date.UTC(2026, 0, pages)).toISOString()
      const check = '0'.repeat(64)
      return Promise.resolve({ kind: 'events', events: [], hasMore: true, endTime, check })
    }
    for (let i = 0; i < 20; i++) expect(await after(1, everySecond)).toEqual(['running', null])
    expect((await after(360, away))[0]).toBe('failed')
  })

  test('by events is given up after hours, too', async () => {
    const { after } = await begun('events')
    const limited = async () => ({ kind: 'refused', status: 429, code: 'RateLimited' })
    expect(await after(0, limited)).toEqual(['running', null])
    expect(await after(360, limited)).toEqual(['failed', 'the directory answers 429 RateLimited'])
  })

  test('that fails in an unforeseen way ends, too', async () => {
    const { after } = await begun()
    const broken = async () => {
      throw new Error('with a secret')
    }
    expect(await after(1, broken)).toEqual(['running', null])
    expect(await after(15, broken)).toEqual(['failed', 'it could not be compared'])
  })
})
