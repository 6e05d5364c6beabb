/** From the command that takes a list to what every process answers. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseCommandLine } from '../../src/cli/command.ts'
import { listsCommand } from '../../src/cli/lists.ts'
import type { Program } from '../../src/cli/program.ts'
import { lawfulHolidays } from '../../src/reference/holidays/domain.ts'
import { createReference } from '../../src/reference/index.ts'
import { createLists } from '../../src/reference/lists.ts'
import { testApp, testKey } from '../support/app.ts'
import { createTestDatabase, quietLogger } from '../support/database.ts'
import { temporaryDirectory } from '../support/temporary.ts'

const database = await createTestDatabase()
const { sql, dsn } = database
const folder = temporaryDirectory()
let server: ReturnType<typeof Bun.serve>
let files: Readonly<Record<string, string>> = {}

beforeAll(() => {
  server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch: (request) => {
      const file = files[new URL(request.url).pathname]
      return file === undefined ? new Response('none', { status: 404 }) : new Response(file)
    },
  })
})
afterAll(async () => {
  await server.stop(true)
  await database.close()
})

const run = async (...argv: string[]) => {
  const io = { out: '', err: '' }
  const program = {
    version: 'test',
    load: () => ({ problems: [], database: dsn, platform: {} }),
  } as unknown as Program
  const code = await listsCommand.run(
    parseCommandLine(listsCommand, argv),
    {
      env: { TRILHO_FETCH_ALLOWED_TARGETS: '127.0.0.1' },
      out: (text) => {
        io.out += text
      },
      err: (text) => {
        io.err += text
      },
      taken: async () => {},
      readInput: async () => new Uint8Array(),
    },
    program,
  )
  return { code, ...io }
}

const failureOf = async (...argv: string[]): Promise<string> => {
  try {
    await run(...argv)
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
  return 'it went well'
}

const fileOf = (name: string, text: string): string => {
  const path = join(folder, name)
  writeFileSync(path, text)
  return path
}

const { key, record } = testKey('*')

const appOf = ({ routes }: ReturnType<typeof createReference>) => {
  const { call } = testApp(routes ?? [], { keys: [record] })
  const get = (path: string) => call('GET', path, { key })
  // biome-ignore lint/suspicious/noExplicitAny: the answer is what the test is about
  const json = async (path: string): Promise<any> => (await get(path)).json()
  return { get, json }
}

const feature = createReference({ sql, logger: quietLogger })
const app = appOf(feature)

test('without a list the laws hold, and some participants are known', async () => {
  const holidays = await app.json('/v1/holidays/2027')
  expect(holidays.holidays).toHaveLength(13)
  expect(holidays.holidays[0]).toEqual({ day: '2027-01-01', name: 'Confraternização Universal' })
  expect(holidays.source).toContain('662/1949')
  expect(await app.json('/v1/participants/60701190')).toMatchObject({ name: 'Itaú Unibanco' })
  expect((await run('show', 'participants', '18236120')).out).toContain('Nubank')
  expect((await run('show', 'holidays', '2027')).out).toContain('2027-03-26')
})

test('a list of holidays is taken by whoever runs, within a round', async () => {
  const days = [...lawfulHolidays(2027), { day: '2027-06-11', name: 'Dia extraordinário' }]
  const path = fileOf('feriados.csv', days.map(({ day, name }) => `${day};${name}`).join('\n'))
  expect(feature.isHoliday('2027-06-11')).toBe(false)
  const { out } = await run('refresh', 'holidays', '--from', path, '--as-of', '2026-11-01')
  expect(out).toContain('14 holidays of 2026-11-01 are stored')
  expect(out).toContain('not in the laws: 2027-06-11 Dia extraordinário')
  await feature.start?.()
  expect([feature.isHoliday('2027-06-11'), feature.isHoliday('2028-06-11')]).toEqual([true, false])
  expect(await app.json('/v1/holidays/2027')).toMatchObject({ as_of: '2026-11-01', source: path })
  expect((await app.json('/v1/holidays/2028')).source).toContain('662/1949')
  const [entry] = await sql`select object, outcome from audit_log where action = 'lists.refresh'`
  expect(entry).toEqual({ object: 'holidays', outcome: 'stored' })
  await feature.drain?.()
})

test('participants are read from an address, and pages and names find them', async () => {
  const rows = Array.from({ length: 120 }, (_, at) => `${30_000_000 + at};AÇÃO ${at} S.A.;Direta`)
  files = { '/lista.csv': ['ISPB;Nome Reduzido;Tipo de Participação no SPI', ...rows].join('\n') }
  const from = `http://127.0.0.1:${server.port}/lista.csv`
  const told = JSON.parse((await run('refresh', 'participants', '--from', from, '--json')).out)
  expect(told).toMatchObject({ list: 'participants', items: 120, source: from })
  expect(told.changes).toContain('not listed any more: 60701190 Itaú Unibanco')
  const lists = createLists()
  expect(await lists.renew(sql)).toBe(true)
  expect(await lists.renew(sql)).toBe(false)
  const other = createReference({ sql, logger: quietLogger })
  await other.start?.()
  const there = appOf(other)
  const first = await there.json('/v1/participants?limit=100')
  const second = await there.json(`/v1/participants?limit=100&cursor=${first.next_cursor}`)
  expect([first.participants.length, second.participants.length, second.next_cursor]).toEqual([
    100,
    20,
    null,
  ])
  const named = await there.json('/v1/participants?name=acao%2011')
  expect(named.participants.map(({ name }: { name: string }) => name)).toEqual([
    'AÇÃO 11 S.A.',
    ...Array.from({ length: 10 }, (_, at) => `AÇÃO ${110 + at} S.A.`),
  ])
  expect((await there.get('/v1/participants/60701190')).status).toBe(404)
  expect((await there.get('/v1/participants/6070119')).status).toBe(400)
  await other.drain?.()
})

test('what cannot be used changes nothing', async () => {
  const before = await sql`select name, items, stored_at from reference_lists order by name`
  files = { '/half.csv': 'ISPB;Nome Reduzido\n00000000;Um\n' }
  const at = `http://127.0.0.1:${server.port}`
  for (const [argv, message] of [
    [['participants', '--from', `${at}/half.csv`], 'there are 1 participants'],
    [['participants', '--from', `${at}/none.csv`], 'answers 404'],
    [['participants', '--from', join(folder, 'none.csv')], 'ENOENT'],
    [
      ['participants', '--from', 'http://10.0.0.1/lista.csv'],
      '10.0.0.1/lista.csv: leads to an address that is not public',
    ],
    [
      ['holidays', '--from', fileOf('big.csv', ';'.repeat(4 * 1024 * 1024 + 1))],
      'more than 4194304 bytes',
    ],
    [['holidays'], 'say --from'],
    [['banks'], 'say holidays or participants'],
    [['holidays', '--from', 'x', '--as-of', 'today'], 'YYYY-MM-DD'],
  ] as const) {
    expect([argv, await failureOf('refresh', ...argv)]).toEqual([
      argv,
      expect.stringContaining(message),
    ])
  }
  expect(await sql`select name, items, stored_at from reference_lists order by name`).toEqual(
    before,
  )
})
