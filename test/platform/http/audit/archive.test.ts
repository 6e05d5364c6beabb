import { afterAll, beforeEach, describe, expect, test } from 'bun:test'
import { appendFileSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { gunzipSync, gzipSync } from 'node:zlib'
import { ensurePartitions, uuidBound } from '#src/platform/database/index.ts'
import { createAudit, exportAudit, verifyArchive, verifyAudit } from '#src/platform/http/index.ts'
import { auditCommand } from '../../../../src/cli/audit.ts'
import { parseCommandLine, UsageError } from '../../../../src/cli/command.ts'
import type { Program } from '../../../../src/cli/program.ts'
import { sealEntries, settleMs } from '../../../../src/platform/http/audit/chain/seal.ts'
import { forgetAudit } from '../../../../src/platform/http/audit/feature.ts'
import { auditRoutes } from '../../../../src/platform/http/audit/routes.ts'
import { testApp, testKey } from '../../../support/app.ts'
import {
  createTestDatabase,
  keptForEver,
  quietLogger as logger,
} from '../../../support/database.ts'
import { anyVariant, bareEnvironment } from '../../../support/program.ts'
import { syncedBy } from '../../../support/synced.ts'
import { temporaryDirectory } from '../../../support/temporary.ts'
import { until } from '../../../support/until.ts'

const database = await createTestDatabase()
const { sql, dsn } = database
afterAll(() => database.close())

const dayMs = 86_400_000
const startMs = Date.parse('2026-06-20T12:00:00Z')

const write = async (atMs: number, n: number): Promise<void> => {
  const id = uuidBound(new Date(atMs)).slice(0, 24) + n.toString(16).padStart(12, '0')
  await sql`
    insert into audit_log (id, actor, action, object, outcome, request_id)
    values (${id}, 'key', 'spi.send', ${`thing "${n}"\n`}, 'queued', ${n % 2 === 0 ? null : 'req'})`
}

/** A link of so many entries, an hour after the one before. */
const addLink = async (link: number, entries = 3): Promise<void> => {
  const atMs = startMs + link * 3_600_000
  for (let n = 0; n < entries; n++) await write(atMs + n, link * 16 + n)
  await sealEntries({ sql, logger, nowMs: () => atMs + settleMs + 1_000 })
}

let file: string
const lines = () => readFileSync(file, 'utf8').trimEnd().split('\n')
const rewrite = (change: (all: string[]) => string[]) =>
  writeFileSync(file, `${change(lines()).join('\n')}\n`)
const findingsOf = async (...files: string[]) =>
  (await verifyArchive(files)).findings.map(({ kind, at }) => `${kind} ${at}`)

beforeEach(async () => {
  await sql`truncate audit_log, audit_links`
  for (const link of [1, 2, 3]) await addLink(link)
  file = join(temporaryDirectory(), 'audit.jsonl')
})

test.if(process.platform === 'linux')('an export is on the disk, and so is its name', async () => {
  const directory = dirname(file)
  expect(await syncedBy(directory, () => exportAudit(sql, file))).toEqual([file, directory])
})

test('an export is verified without the database, and goes on where it ended', async () => {
  const first = await exportAudit(sql, file)
  expect(first).toMatchObject({ links: 3, entries: 9 })
  await addLink(4, 2)
  expect(await exportAudit(sql, file)).toMatchObject({ links: 1, entries: 2 })
  expect(await exportAudit(sql, file)).toMatchObject({ links: 0, entries: 0 })
  const { head, findings } = await verifyAudit(sql, { retentionDays: 400 }, startMs + dayMs)
  expect(findings).toEqual([])
  expect(await verifyArchive([file])).toMatchObject({ links: 4, entries: 11, head, findings: [] })
  const [entry = '', , , link = ''] = lines()
  expect(JSON.parse(entry)).toMatchObject({
    at: '2026-06-20T13:00:00.000Z',
    actor: 'key',
    object: 'thing "16"\n',
    request_id: null,
  })
  expect(JSON.parse(link)).toMatchObject({ link: '1', entries: 3, before: '00'.repeat(32) })
})

test('a reader that goes before the end of an export ends it quietly', async () => {
  const line = `{ ${anyVariant.command().join(' ')} audit export; echo "ended with $?" >&2; } | true`
  const shell = Bun.spawn(['sh', '-c', line], {
    env: bareEnvironment({ DATABASE_DSN: dsn }),
    stderr: 'pipe',
  })
  expect(await shell.stderr.text()).toBe('ended with 0\n')
}, 60_000)

test('each database archives what it drops at a place of its own', async () => {
  const other = await createTestDatabase()
  const directory = temporaryDirectory()
  const databases = [sql, other.sql]
  for (const one of databases) {
    await one`truncate audit_log, audit_links`
    const mark = one === sql ? 'first' : 'second'
    await one`
      insert into audit_log (id, actor, action, object, outcome)
      values (${uuidBound(new Date(startMs))}, 'key', 'spi.send', ${mark}, 'queued')`
    await sealEntries({ sql: one, logger, nowMs: () => startMs + settleMs + 1_000 })
  }
  const audit = createAudit({ databases, retentionDays: 90, archiveDirectory: directory, logger })
  await audit.start?.()
  for (const one of databases) {
    await until(async () => (await one`select from audit_log`).length === 0)
  }
  await audit.drain?.()
  await other.close()
  const archivedIn = (place: string): string =>
    readdirSync(place)
      .filter((name) => name.endsWith('.gz'))
      .map((name) => gunzipSync(readFileSync(join(place, name))).toString())
      .join('')
  // As a row, and in its link.
  const marksIn = (place: string) => archivedIn(place).match(/first|second/g)
  expect(marksIn(directory)).toEqual(['first', 'first'])
  expect(marksIn(join(directory, 'database-2'))).toEqual(['second', 'second'])
})

describe('over HTTP', () => {
  const auditor = testKey('audit:export')
  const { call } = testApp(createAudit({ databases: [sql], ...keptForEver, logger }).routes ?? [], {
    keys: [auditor.record],
  })
  const ask = (query = '', key = auditor.key) => call('GET', `/v1/audit/export${query}`, { key })
  const nextOf = (response: Response): string =>
    /^<\/v1\/audit\/export(\?[^>]+)>; rel="next"$/.exec(response.headers.get('link') ?? '')?.[1] ??
    ''

  test('the answers one after the other are the file that the command writes', async () => {
    await exportAudit(sql, file)
    const texts: string[] = []
    let query = '?limit=2'
    for (let page = 0; page < 3; page++) {
      const response = await ask(query)
      expect(response.headers.get('content-type')).toBe('application/x-ndjson')
      texts.push(await response.text())
      query = nextOf(response) || query
    }
    expect(texts.map((text) => text.split('"link"').length - 1)).toEqual([2, 1, 0])
    expect(texts.join('') === readFileSync(file, 'utf8')).toBe(true)
    const collected = join(temporaryDirectory(), 'collected.jsonl')
    writeFileSync(collected, texts.join(''))
    expect(await verifyArchive([collected])).toMatchObject({ links: 3, entries: 9, findings: [] })
    // The same request has more, once more is sealed.
    await addLink(4, 2)
    appendFileSync(collected, await (await ask(query)).text())
    expect(await verifyArchive([collected])).toMatchObject({ links: 4, entries: 11, findings: [] })
  })

  test('an answer that has its entries has no further link', async () => {
    const links = async function* () {
      for (const seq of [1n, 2n, 3n]) yield { seq, entries: 5_000, lines: `${seq}\n` }
    }
    const { call } = testApp(
      auditRoutes({ list: async () => [], links, verify: () => undefined }),
      {
        keys: [auditor.record],
      },
    )
    const response = await call('GET', '/v1/audit/export', { key: auditor.key })
    expect(await response.text()).toBe('1\n2\n')
    expect(nextOf(response)).toStartWith('?after=2&')
  })

  test('a link or a database that is not there is refused', async () => {
    for (const query of ['?after=4', '?database=2']) {
      const response = await ask(query)
      const { code, errors } = (await response.json()) as {
        readonly code: string
        readonly errors: readonly { readonly pointer: string }[]
      }
      expect([query, response.status, code]).toEqual([query, 400, 'value_refused'])
      expect(query).toContain(errors[0]?.pointer ?? 'nothing')
    }
    expect((await ask('?limit=101')).status).toBe(400)
    expect((await ask('?after=3')).status).toBe(200)
  })

  test('whoever may export may not do more', async () => {
    expect((await call('GET', '/v1/audit', { key: auditor.key })).status).toBe(403)
  })
})

test('what a killed export left of a link is cut off by the next', async () => {
  await exportAudit(sql, file)
  const whole = readFileSync(file, 'utf8')
  const ends = [...whole.matchAll(/\n/g)].map(({ index }) => index + 1)
  for (const end of [0, ends[0]!, ends[3]!, ends[5]! + 40, ends[10]!, whole.length - 1]) {
    writeFileSync(file, whole.slice(0, end))
    if (end !== 0 && end !== ends[3]) expect(await findingsOf(file)).toContain(`file ${file}`)
    await exportAudit(sql, file)
    expect(readFileSync(file, 'utf8') === whole).toBe(true)
  }
})

test('a file that is no export stays as it is, and so does one that an unknown chain would go on from', async () => {
  const others = ['secret', '{"id":"cus_1","key":"x"}', '{"link":"https://example.com"}', '\0']
  for (const content of others) {
    writeFileSync(file, content)
    await expect(exportAudit(sql, file)).rejects.toThrow('is no export')
    expect(readFileSync(file, 'utf8')).toBe(content)
  }
  writeFileSync(file, '')
  await exportAudit(sql, file)
  const torn = readFileSync(file, 'utf8').slice(0, -9)
  writeFileSync(file, torn)
  await sql`truncate audit_links`
  await expect(exportAudit(sql, file)).rejects.toThrow('no link 2')
  expect(readFileSync(file, 'utf8') === torn).toBe(true)
})

test('a chain that was written anew does not go on from the file that was exported before', async () => {
  await exportAudit(sql, file)
  const whole = readFileSync(file, 'utf8')
  await sql`update audit_log set actor = 'another'`
  await sql`truncate audit_links`
  for (const link of [1, 2, 3, 4]) await addLink(link, link === 4 ? 3 : 0)
  const again = async () => await exportAudit(sql, file)
  expect(again()).rejects.toThrow()
  expect(readFileSync(file, 'utf8') === whole).toBe(true)
})

describe('what is found in an archive', () => {
  const replaced = (at: number, from: string, to: string) => (all: string[]) =>
    all.map((line, n) => (n === at ? line.replace(from, to) : line))
  const ids = () => lines().map((line) => (JSON.parse(line) as { readonly id?: string }).id)
  const tampered: Readonly<Record<string, () => readonly string[]>> = {
    'an altered entry': () => {
      rewrite(replaced(1, '"queued"', '"refused"'))
      return [`altered ${ids()[1]}`]
    },
    'an altered moment, which no hash covers': () => {
      rewrite(replaced(1, '13:00', '14:00'))
      return [`altered ${ids()[1]}`]
    },
    'a deleted entry': () => {
      const id = ids()[2]
      rewrite((all) => all.toSpliced(1, 1))
      return ['deleted 1', `altered ${id}`]
    },
    'a deleted entry whose link tells of fewer': () => {
      const id = ids()[2]
      rewrite((all) => replaced(2, '"entries":3', '"entries":2')(all.toSpliced(1, 1)))
      return [`altered ${id}`]
    },
    'entries whose link denies them': () => {
      rewrite(replaced(3, '"entries":3', '"entries":null'))
      return ['deleted 1']
    },
    'two entries that changed places': () => {
      const [a, b, c] = ids()
      rewrite(([one = '', two = '', ...rest]) => [two, one, ...rest])
      return [`altered ${b}`, `altered ${a}`, `altered ${c}`]
    },
    'a deleted link': () => {
      rewrite((all) => all.toSpliced(4, 4))
      return ['link 3']
    },
    'a link that was put twice': () => {
      rewrite((all) => [...all.slice(0, 4), ...all])
      return []
    },
    'an altered hash of a link': () => {
      const last = lines()[3] ?? ''
      rewrite(replaced(3, last.slice(-10), '00000000"}'))
      return ['link 1', 'link 2']
    },
    'a line that is none of ours': () => {
      rewrite((all) => ['{"id":1}', ...all])
      return [`file ${file}`]
    },
    'a line without an end': () => {
      appendFileSync(file, 'x'.repeat(200_000))
      return [`file ${file}`]
    },
    'a compressed file that was cut': () => {
      const all = gzipSync(readFileSync(file))
      writeFileSync(file, all.subarray(0, all.length - 20))
      return [`file ${file}`]
    },
  }
  test.each(Object.keys(tampered))('%s', async (what) => {
    await exportAudit(sql, file)
    const expected = tampered[what]?.() ?? []
    expect(await findingsOf(file)).toEqual([...expected])
  })

  test('an archive that was written anew or cut, by the anchor that was noted', async () => {
    const { head = '' } = await exportAudit(sql, file)
    const [seq = '', hash = ''] = head.split(':')
    const anchor = { seq: BigInt(seq), hash }
    expect((await verifyArchive([file], anchor)).findings).toEqual([])
    rewrite((all) => all.slice(0, 8))
    expect(await findingsOf(file)).toEqual([])
    expect((await verifyArchive([file], anchor)).findings).toMatchObject([{ kind: 'anchor' }])
  })
})

test('retention leaves files with the hashes of what it drops, which go on from one another', async () => {
  await sql`truncate audit_log, audit_links`
  const directory = temporaryDirectory()
  const at = (days: number) => Date.now() - days * dayMs
  for (const [n, days] of [200, 160, 120, 1].entries()) {
    await ensurePartitions(
      ...([sql, { name: 'audit_log', unit: 'month', bound: uuidBound }] as const),
      ...([0, new Date(at(days))] as const),
    )
    await write(at(days), n)
  }
  await sealEntries({ sql, logger })
  // What is to go is older by more than a month, whatever the day: months go whole.
  for (const days of [150, 150, 80]) {
    await forgetAudit({ sql, days, archiveDirectory: directory, logger })
  }
  const files = readdirSync(directory)
    .filter((name) => name.startsWith('audit_chain_'))
    .sort()
  expect(files).toHaveLength(2)
  const paths = files.map((name) => join(directory, name))
  expect(await verifyArchive(paths)).toMatchObject({ entries: 3, findings: [], dropped: 0 })
  expect(await findingsOf(...paths.toReversed())).not.toEqual([])
  // What is left is exported behind them.
  const { head } = await verifyArchive(paths)
  await exportAudit(sql, file)
  const all = await verifyArchive([...paths, file])
  expect(all).toMatchObject({ entries: 4, findings: [] })
  expect(all.head).not.toBe(head)
})

describe('the command', () => {
  const run = async (...argv: string[]) => {
    let out = ''
    const program = { load: () => ({ problems: [], databases: [dsn] }) } as unknown as Program
    const io = {
      env: {},
      err: () => undefined,
      taken: async () => {},
      readInput: async () => new Uint8Array(),
      out: (text: string) => {
        out += text
      },
    }
    const code = await auditCommand.run(parseCommandLine(auditCommand, argv), io, program)
    return { code, out }
  }

  test('exports to a file or to standard output, and verifies what it exported', async () => {
    expect((await run('export', '--file', file)).out).toContain('9 entries in 3 links were added')
    expect(await run('export')).toEqual({ code: 0, out: readFileSync(file, 'utf8') })
    expect((await run('export', '--after', '2')).out.split('\n')).toHaveLength(5)
    const { code, out } = await run('verify', file, '--json')
    expect([code, JSON.parse(out)]).toMatchObject([0, { archive: { links: 3, findings: [] } }])
    rewrite((all) => all.toSpliced(1, 1))
    expect((await run('verify', file)).code).toBe(1)
  })

  test('refuses what makes no sense', async () => {
    for (const argv of [
      ['export', file],
      ['export', '--file', file, '--after', '1'],
      ['export', '--database', '2'],
      ['export', '--database', '3'],
    ]) {
      expect(run(...argv)).rejects.toThrow(UsageError)
    }
    expect(run('export', '--after', '4')).rejects.toThrow('no link 4')
  })
})
