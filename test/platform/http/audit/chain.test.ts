import { afterAll, beforeEach, describe, expect, setSystemTime, test } from 'bun:test'
import { ensurePartitions, uuidBound } from '#src/platform/database/index.ts'
import { type Anchor, type Verification, verifyAudit } from '#src/platform/http/index.ts'
import { sealEntries, sealLate, settleMs } from '../../../../src/platform/http/audit/chain/seal.ts'
import { lateMs } from '../../../../src/platform/http/audit/chain/store.ts'
import { verifyPage } from '../../../../src/platform/http/audit/chain/verify.ts'
import { forgetAudit } from '../../../../src/platform/http/audit/feature.ts'
import { createTestDatabase, quietLogger as logger } from '../../../support/database.ts'

const database = await createTestDatabase()
const { sql } = database
afterAll(() => database.close())

const dayMs = 86_400_000
/** Now, for the chain: everything else is before it. */
const nowMs = Date.parse('2026-06-20T12:00:00Z')
const yesterday = nowMs - dayMs
const retentionDays = 400

const idAt = (atMs: number, n: number): string =>
  uuidBound(new Date(atMs)).slice(0, 24) + n.toString(16).padStart(12, '0')

const write = async (n: number, atMs = yesterday, object = `thing ${n}`): Promise<string> => {
  const id = idAt(atMs, n)
  await sql`
    insert into audit_log (id, actor, action, object, outcome, request_id)
    values (${id}, 'key', 'spi.send', ${object}, 'queued', ${n % 2 === 0 ? null : 'req'})`
  return id
}

const seal = (atMs = nowMs) => sealEntries({ sql, logger, nowMs: () => atMs })
const verify = (more: Partial<Parameters<typeof verifyAudit>[1]> = {}, atMs = nowMs) =>
  verifyAudit(sql, { retentionDays, ...more }, atMs)
/** The same link by link, as the endpoint does it. */
const verifyPages = async (anchor?: Anchor) => {
  const pages: Awaited<ReturnType<typeof verifyPage>>[] = []
  for (let after: bigint | undefined = 0n; after !== undefined; after = pages.at(-1)?.next) {
    pages.push(await verifyPage(sql, { after, linksMax: 1, anchor, retentionDays }, nowMs))
  }
  return pages
}
const told = ({ findings }: Pick<Verification, 'findings'>) =>
  findings.map(({ kind, at }) => `${kind} ${at}`)
const kinds = async () => {
  const found = told(await verify())
  expect((await verifyPages()).flatMap(told).sort()).toEqual(found.toSorted())
  return found
}

/** A round that ends with its so manieth piece. */
const roundOf = (piecesMax = Number.POSITIVE_INFINITY) => {
  const ending = new AbortController()
  let advanced = 0
  const advance = () => {
    if (++advanced === piecesMax) ending.abort()
  }
  const round = { signal: ending.signal, advance, end: () => undefined }
  return { round, advanced: () => advanced }
}

let ids: string[]
beforeEach(async () => {
  await sql`truncate audit_log, audit_links`
  ids = []
  for (let n = 1; n <= 6; n++) ids.push(await write(n))
  // Two links, of four entries and of two.
  await sql`update audit_log set object = object`
  await seal()
  ids.push(await write(7, yesterday + 60_000 + dayMs / 2))
  ids.push(await write(8, nowMs - settleMs - 1))
})

const sealAll = async (): Promise<void> => {
  await sql`truncate audit_links`
  // A link ends where the time of its making ended.
  await seal(yesterday + settleMs + 1)
  await seal()
}

test('an untouched log is as it was written, in several links, and its head is an anchor', async () => {
  await sealAll()
  const { links, entries, head, findings } = await verify()
  expect([links, entries, findings]).toEqual([2, 8, []])
  const [seq = '', hash = ''] = head?.split(':') ?? []
  expect((await verify({ anchor: { seq: BigInt(seq), hash } })).findings).toEqual([])
  const pages = await verifyPages({ seq: BigInt(seq), hash })
  expect(pages.map((page) => [page.links, page.entries, page.next])).toEqual([
    [1, 6, 1n],
    [1, 2, undefined],
  ])
  expect([pages.flatMap(told), pages.at(-1)?.head]).toEqual([[], head])
  // Sealing again adds nothing.
  expect(await seal()).toBe(0)
})

describe('what is found', () => {
  const tampered: Readonly<Record<string, () => Promise<readonly string[]>>> = {
    'an altered entry': async () => {
      await sql`update audit_log set object = 'another' where id = ${ids[2]!}`
      return [`altered ${ids[2]}`]
    },
    'an altered request id': async () => {
      await sql`update audit_log set request_id = 'req' where id = ${ids[1]!}`
      return [`altered ${ids[1]}`]
    },
    'a deleted entry': async () => {
      await sql`delete from audit_log where id = ${ids[3]!}`
      return [`deleted ${ids[3]}`]
    },
    'an inserted entry': async () => [`inserted ${await write(99)}`],
    'two entries that changed places': async () => {
      const [a = '', b = ''] = [ids[0], ids[4]]
      const none = idAt(yesterday, 4_711)
      await sql`update audit_log set id = ${none} where id = ${a}`
      await sql`update audit_log set id = ${a} where id = ${b}`
      await sql`update audit_log set id = ${b} where id = ${none}`
      return [`reordered ${a}`, `reordered ${b}`]
    },
    'an altered hash': async () => {
      await sql`update audit_links set hashes = overlay(hashes placing '\\x00'::bytea from 40 for 1)
        where seq = 1`
      return [`altered ${ids[1]}`, `altered ${ids[2]}`]
    },
    'a deleted link': async () => {
      await sql`delete from audit_links where seq = 1`
      return [...['link 2', `altered ${ids[6]}`]]
    },
    'a link whose entries were declared to be dropped': async () => {
      await sql`update audit_links set ids = null, hashes = null, dropped_at = now() where seq = 1`
      return ['dropped 1']
    },
  }
  test.each(Object.keys(tampered))('%s', async (what) => {
    await sealAll()
    const expected = await tampered[what]?.()
    expect(await kinds()).toEqual([...(expected ?? [])])
  })

  test('a chain that was written anew, by the anchor that was noted', async () => {
    await sealAll()
    const { head } = await verify()
    const [seq = '', hash = ''] = head?.split(':') ?? []
    await sql`update audit_log set object = 'another' where id = ${ids[2]!}`
    await sealAll()
    expect(await kinds()).toEqual([])
    const anchor = { seq: BigInt(seq), hash }
    expect((await verify({ anchor })).findings).toMatchObject([{ kind: 'anchor', at: seq }])
    expect((await verifyPages(anchor)).flatMap(told)).toEqual([`anchor ${seq}`])
    // So is one that was cut.
    await sql`delete from audit_links where seq = ${seq}`
    expect((await verify({ anchor })).findings).toMatchObject([{ kind: 'anchor', at: seq }])
    expect((await verifyPages(anchor)).flatMap(told)).toEqual([`anchor ${seq}`])
  })
})

test('what is committed after its time was sealed is sealed late, within an hour, and counted', async () => {
  await sealAll()
  const late = await write(50, nowMs - lateMs / 2)
  expect(await kinds()).toEqual([])
  expect(await sealLate({ sql, logger })).toBe(1)
  expect(await sealLate({ sql, logger })).toBe(0)
  expect(await verify()).toMatchObject({ late: 1, findings: [] })
  await sql`update audit_log set object = 'another' where id = ${late}`
  expect(await kinds()).toEqual([`altered ${late}`])
})

test('what was committed late before the sealing paused is sealed late once it goes on, however long it paused', async () => {
  await sealAll()
  await write(50, nowMs - settleMs - lateMs / 2)
  const laterMs = nowMs + 20 * lateMs
  // Nobody has looked since: that it is late is no finding.
  expect(await verify({}, laterMs)).toMatchObject({ late: 0, findings: [] })
  await write(51, laterMs - 2 * settleMs)
  expect(await seal(laterMs)).toBe(1)
  expect(await verify({}, laterMs)).toMatchObject({ late: 1, entries: 10, findings: [] })
})

test('while nothing new is written, sealing does not look through what is sealed', async () => {
  await sealAll()
  await write(50, nowMs - lateMs / 2)
  const quietMs = nowMs + 20 * lateMs
  expect(await seal(quietMs)).toBe(0)
  // The look for what is late, which has its own time, has yet to find it.
  expect(await verify({}, quietMs)).toMatchObject({ late: 0, findings: [] })
  expect(await sealLate({ sql, logger })).toBe(1)
})

test('inserted entries are found in each of many links, and at their ends', async () => {
  await sql`truncate audit_log, audit_links`
  const at = (n: number) => yesterday + n * 60_000
  for (let n = 0; n < 120; n++) {
    await write(n, at(n))
    await seal(at(n) + settleMs + 1)
  }
  await write(120, at(200))
  await seal(at(200) + settleMs + 1)
  const inserted: string[] = []
  for (const n of [0, 50, 99, 100, 119]) inserted.push(await write(900 + n, at(n)))
  const found = await verify()
  expect(found.links).toBe(121)
  expect(told(found)).toEqual(inserted.map((id) => `inserted ${id}`))
})

test('however much is late, one round seals all of it', async () => {
  await sealAll()
  await sql`
    insert into audit_log (id, actor, action, object, outcome)
    select (${idAt(nowMs - lateMs / 2, 0).slice(0, 24)}::text || lpad(to_hex(n), 12, '0'))::uuid,
      'key', 'spi.send', 'thing', 'queued' from generate_series(1, 4500) n`
  const { round, advanced } = roundOf()
  expect(await sealLate({ sql, logger, round })).toBe(4_500)
  expect(advanced()).toBe(2)
  expect(await verify({}, nowMs + 2 * lateMs)).toMatchObject({ late: 4_500, findings: [] })
})

test('a round tells of each link that it seals, and ends between two', async () => {
  await sql`truncate audit_log, audit_links`
  await sql`
    insert into audit_log (id, actor, action, object, outcome)
    select (${idAt(yesterday, 0).slice(0, 24)}::text || lpad(to_hex(n), 12, '0'))::uuid,
      'key', 'spi.send', 'thing', 'queued' from generate_series(1, 4500) n`
  const { round, advanced } = roundOf(2)
  expect(await sealEntries({ sql, logger, round, nowMs: () => nowMs })).toBe(4_000)
  expect(advanced()).toBe(2)
  expect(await seal()).toBe(500)
})

test('processes that seal at once make one chain, in which no entry stands twice', async () => {
  for (let round = 0; round < 20; round++) {
    await sql`truncate audit_links`
    await Promise.all([seal(), seal(), seal(), seal()])
    expect(await verify()).toMatchObject({ links: 1, entries: 8, findings: [] })
  }
})

test('a process whose clock is ahead seals nothing of what is still to come', async () => {
  await sql`truncate audit_log, audit_links`
  const now = Date.now()
  await write(1, now - settleMs - 5_000)
  setSystemTime(new Date(now + 3_600_000))
  await sealEntries({ sql, logger })
  setSystemTime()
  const [link] = await sql<{ toId: string }[]>`select to_id as "toId" from audit_links`
  expect(link?.toId).toBeString()
  expect((link?.toId ?? '') < idAt(Date.now(), 0)).toBe(true)
})

test('links end with their month; what retention drops leaves a chain that goes on', async () => {
  await sql`truncate audit_log, audit_links`
  const old = Date.now() - 100 * dayMs
  for (const at of [old, Date.now() - 5_000 - settleMs]) {
    await ensurePartitions(
      sql,
      { name: 'audit_log', unit: 'month', bound: uuidBound },
      0,
      new Date(at),
    )
  }
  await write(1, old)
  const kept = await write(2, Date.now() - 5_000 - settleMs)
  await seal(Date.now())
  expect((await verify({}, Date.now())).links).toBe(2)
  await forgetAudit({ sql, days: 60, archiveDirectory: undefined, logger })
  const after = await verify({ retentionDays: 60 }, Date.now())
  expect(after).toMatchObject({ links: 2, entries: 1, dropped: 1, findings: [] })
  // The hash of what was dropped still holds what follows.
  await sql`update audit_links set hash = decode(repeat('00', 32), 'hex') where seq = 1`
  const { findings } = await verify({ retentionDays: 60 }, Date.now())
  expect(findings).toMatchObject([{ kind: 'altered', at: kept }])
})

test('entries of a month without a partition stay as long as their link', async () => {
  await sql`truncate audit_log, audit_links`
  const now = new Date()
  const tenth = Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - 10, 10)
  const ids = [await write(1, tenth), await write(2, tenth + 15 * dayMs)]
  expect(await sql`select from audit_log_default`).toHaveLength(2)
  await seal(now.getTime())
  const days = Math.floor((now.getTime() - (tenth + 10 * dayMs)) / dayMs)
  const forget = (more: number) =>
    forgetAudit({ sql, days: days - more, archiveDirectory: undefined, logger })
  await forget(0)
  expect(await verify({ retentionDays: days }, now.getTime())).toMatchObject({
    entries: ids.length,
    findings: [],
  })
  await forget(31)
  expect(await sql`select from audit_log`).toHaveLength(0)
  expect(await verify({ retentionDays: days - 31 }, now.getTime())).toMatchObject({
    entries: 0,
    findings: [],
  })
})
