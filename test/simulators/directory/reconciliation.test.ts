/**
 * A participant that lost some of its entries finds out which, by the directory's sets of contents alone: of 10 000, and with
 * TRILHO_LONG=1 of a million, which takes three gigabytes.
 */
import { afterAll, beforeEach, expect, test } from 'bun:test'
import { hash } from 'node:crypto'
import { createVsync } from '#codecs/dict'
import { createDirectory } from '#src/simulators/directory/index.ts'

const participant = '12345678'
const isLong = process.env['TRILHO_LONG'] === '1'
const entries = isLong ? 1_000_000 : 10_000
let nowMs = Date.parse('2026-11-01T12:00:00Z')
const directory = await createDirectory({ category: 'H', now: () => nowMs })
afterAll(directory.stop)
/** Every bucket is full again. */
beforeEach(() => {
  directory.setFaults([])
  nowMs += 86_400_000
})

const register = (i: number, ispb = participant): string =>
  directory.register({
    key_type: 'EMAIL',
    key: `k${i}@example.com`,
    name: 'João Lima',
    tax_id: '98765432100',
    ispb,
    account: String(i),
    account_type: 'CACC',
  })

const textIn = (xml: string, name: string): string =>
  new RegExp(`<${name}>([^<]*)<`).exec(xml)?.[1] ?? ''

type CidEvent = { readonly type: string; readonly cid: string; readonly at: string }

const ask = async (path: string, method = 'GET', body?: string) => {
  const response = await fetch(`${directory.url}${path}`, {
    method,
    headers: { 'PI-RequestingParticipant': participant },
    ...(body === undefined ? {} : { body }),
  })
  return { status: response.status, text: await response.text() }
}

const list = async (more: Readonly<Record<string, string>> = {}) => {
  const query = new URLSearchParams({ Participant: participant, KeyType: 'EMAIL', ...more })
  const { status, text } = await ask(`/cids/events?${query}`)
  const found = text.matchAll(
    /<Type>(\w+)<\/Type><Cid>(\w+)<\/Cid><Timestamp>([^<]+)<\/Timestamp>/g,
  )
  return {
    status,
    text,
    hasMore: textIn(text, 'HasMoreElements') === 'true',
    events: [...found].map(([, type = '', cid = '', at = '']): CidEvent => ({ type, cid, at })),
    start: textIn(text, 'SyncVerifierStart'),
    end: textIn(text, 'SyncVerifierEnd'),
  }
}

const verdict = async (check: string): Promise<string> => {
  const xml = `<CreateSyncVerificationRequest><SyncVerification><Participant>${participant}</Participant><KeyType>EMAIL</KeyType><ParticipantSyncVerifier>${check}</ParticipantSyncVerifier></SyncVerification></CreateSyncVerificationRequest>`
  return textIn((await ask('/sync-verifications/', 'POST', xml)).text, 'Result')
}

const askForFile = async (): Promise<string> => {
  const xml = `<CreateCidSetFileRequest><Participant>${participant}</Participant><KeyType>EMAIL</KeyType></CreateCidSetFileRequest>`
  const { status, text } = await ask('/cids/files/', 'POST', xml)
  expect([status, textIn(text, 'Status')]).toEqual([201, 'REQUESTED'])
  return textIn(text, 'Id')
}

/** The lines of a file that is there, and whether it is what the directory says it is. */
const readFile = async (id: string) => {
  const { text } = await ask(`/cids/files/${id}`)
  const response = await fetch(textIn(text, 'Url'))
  const bytes = new Uint8Array(await response.arrayBuffer())
  const isWhole =
    String(bytes.length) === textIn(text, 'Bytes') &&
    hash('sha256', bytes, 'hex') === textIn(text, 'Sha256')
  return { isWhole, cids: Buffer.from(bytes).toString().split('\n').slice(0, -1) }
}

const checkOf = (cids: Iterable<string>): string => {
  const check = createVsync()
  for (const cid of cids) check.toggle(cid)
  return check.hex()
}

test(`of ${entries} entries the three that one side lacks are found by the file`, async () => {
  for (let i = 0; i < entries; i++) register(i)
  register(entries, '99999A04')
  const id = await askForFile()
  expect(textIn((await ask(`/cids/files/${id}`)).text, 'Status')).toBe('REQUESTED')
  nowMs += 10_000
  const { isWhole, cids } = await readFile(id)
  expect([isWhole, cids.length]).toEqual([true, entries])
  expect(await verdict(checkOf(cids))).toBe('OK')

  const ours = new Set(cids)
  const lost = [cids[0]!, cids[Math.floor(entries / 2)]!, cids.at(-1)!]
  for (const cid of lost) ours.delete(cid)
  expect(await verdict(checkOf(ours))).toBe('NOK')
  expect(cids.filter((cid) => !ours.has(cid))).toEqual(lost)
  const found = await ask(`/cids/entries/${lost[1]}`)
  expect(textIn(found.text, 'Key')).toBe(`k${Math.floor(entries / 2)}@example.com`)
}, 300_000)

test('events follow the changes, page by page, with the check after the first and the last', async () => {
  const from = new Date(nowMs).toISOString()
  const before = (await list({ StartTime: from })).end
  const keys = Array.from({ length: 205 }, (_, i) => register(entries + 1 + i))
  directory.remove(keys[0]!)
  expect((await list({ StartTime: from })).events).toEqual([])
  nowMs += 5_001
  const first = await list({ StartTime: from })
  expect([first.hasMore, first.events.length]).toEqual([true, 200])
  expect(first.events[0]?.type).toBe('ADDED')
  const second = await list({ StartTime: first.events.at(-1)!.at })
  // The last one of a page is the first of the next: no moment is that of two events.
  expect([second.hasMore, second.events.length]).toEqual([false, 7])
  expect([second.events[0], second.start]).toEqual([first.events.at(-1), first.end])
  const all = [...first.events, ...second.events.slice(1)]
  expect(all.at(-1)).toMatchObject({ type: 'REMOVED', cid: all[0]?.cid })
  const check = createVsync(before)
  for (const { cid } of all) check.toggle(cid)
  expect(second.end).toBe(check.hex())
  expect(await verdict(second.end)).toBe('OK')
  const some = await list({ StartTime: from, EndTime: all[3]!.at, Limit: '2' })
  expect([some.events, some.hasMore]).toEqual([all.slice(0, 2), true])
  const rest = await list({ StartTime: all[2]!.at, EndTime: all[3]!.at })
  expect([rest.events, rest.hasMore]).toEqual([all.slice(2, 4), false])
})

test.each([
  ['no participant', { Participant: '' }],
  ['another type of key', { KeyType: 'NAME' }],
  ['a moment that is none', { StartTime: 'yesterday' }],
  ['no limit', { Limit: '0' }],
  ['a limit past the greatest', { Limit: '201' }],
])('a list with %s is refused', async (_, more) => {
  expect((await list(more)).status).toBe(400)
})

test('a file of another participant, and one that was never asked for, is not there', async () => {
  const id = await askForFile()
  const other = await fetch(`${directory.url}/cids/files/${id}`, {
    headers: { 'PI-RequestingParticipant': '99999A04' },
  })
  expect([other.status, (await ask('/cids/files/999999')).status]).toEqual([404, 404])
  expect((await fetch(new URL('/cid-files/x', directory.url))).status).toBe(404)
})

test('a set is told without one of its entries where that is asked for; a damaged file is no whole one', async () => {
  const [short, damaged] = [await askForFile(), await askForFile()]
  nowMs += 10_000
  directory.setFaults([{ kind: 'lost_cid', times: 1 }])
  const { isWhole, cids } = await readFile(short)
  expect([isWhole, await verdict(checkOf(cids))]).toEqual([true, 'NOK'])
  directory.setFaults([{ kind: 'damaged_file', times: 1 }])
  expect((await readFile(damaged)).isWhole).toBe(false)
  const again = await readFile(damaged)
  expect([again.isWhole, await verdict(checkOf(again.cids))]).toEqual([true, 'OK'])
})

test('forty files a day are given, after two hundred at once', async () => {
  const asked = async () => {
    const xml = `<CreateCidSetFileRequest><Participant>77777777</Participant><KeyType>EVP</KeyType></CreateCidSetFileRequest>`
    return (await ask('/cids/files/', 'POST', xml)).status
  }
  const all = await Promise.all(Array.from({ length: 201 }, asked))
  expect(all.filter((status) => status === 201)).toHaveLength(200)
  expect(all.filter((status) => status === 429)).toHaveLength(1)
  nowMs += 36 * 60_000
  expect(await asked()).toBe(201)
})

test('a list of events is late, or says that it goes on, where that is asked for', async () => {
  const StartTime = new Date(nowMs).toISOString()
  register(entries + 1_000)
  nowMs += 10_000
  expect(await list({ StartTime })).toMatchObject({ hasMore: false, events: [{ type: 'ADDED' }] })
  directory.setFaults([{ kind: 'late_list', times: 1 }])
  expect(await list({ StartTime })).toMatchObject({ hasMore: false, events: [] })
  directory.setFaults([{ kind: 'repeated_list', operation: 'lookup', times: 1 }])
  expect(await list({ StartTime })).toMatchObject({ hasMore: true, events: [{ type: 'ADDED' }] })
})
