import { expect, test } from 'bun:test'
import { createMessageScanner } from '#codecs/iso20022'
import type { Delivery } from '#src/platform/broker/index.ts'
import { nativeText } from '#src/platform/runtime/index.ts'
import { type BookFigures, createReports, reconcile } from '#src/spi/index.ts'
import { runCli } from '../../../src/cli/index.ts'
import { program } from '../../../src/main.ts'
import { readInbound } from '../../../src/spi/in/worker/read.ts'
import type { MessageVerifier } from '../../../src/spi/out/signing/index.ts'
import {
  type Counts,
  differencesIn,
  type Figures,
  nothing,
} from '../../../src/spi/reports/figures.ts'
import { figuresOf } from '../../../src/spi/reports/periods.ts'
import { figuresView } from '../../../src/spi/reports/views.ts'
import { testApp, testKey } from '../../support/app.ts'
import { createTestDatabase } from '../../support/database.ts'
import { build } from '../../support/participant.ts'
import {
  envelope,
  fresh,
  inbound,
  ispb,
  payment,
  queued,
  receivingOf,
  report,
  runningWorker,
} from '../in/worker/support.ts'

const some = (count: number, cents: bigint) => ({ count, cents })
const quiet: Figures = {
  after: new Date(0),
  until: new Date(1),
  balances: { opening: 100n, closing: 130n },
  declaredEntries: null,
  counts: null,
}
const alike: Counts = {
  unknownSettlements: 0,
  lateSettlements: 0,
  others: nothing,
  ours: { credits: some(2, 50n), debits: some(1, 20n) },
  reported: { credits: some(2, 50n), debits: some(1, 20n) },
}

test.each([
  ['nothing, where all figures fit', {}, []],
  ['nothing, where no entry was reported', { reported: nothing }, []],
  [
    'a balance that neither the book nor the entries make',
    { balances: { opening: 100n, closing: 131n } },
    ['balance_differs_though_entries_agree', 'entries_do_not_make_balance'],
  ],
  [
    'a balance that the book does not make, without entries',
    { balances: { opening: 100n, closing: 131n }, reported: nothing },
    ['balance_differs'],
  ],
  [
    'entries that do not make the balance, though the book does',
    { reported: { credits: some(2, 51n), debits: some(1, 20n) } },
    ['sum_differs', 'entries_do_not_make_balance'],
  ],
  [
    'a book that does not make the balance, though the entries do',
    { ours: { credits: some(1, 30n), debits: some(1, 20n) } },
    ['count_differs', 'balance_differs'],
  ],
  [
    'nothing, where other entries make the rest',
    {
      balances: { opening: 100n, closing: 1_130n },
      others: { ...nothing, credits: some(1, 1_000n) },
    },
    [],
  ],
  ['the number of a camt.052', { balances: null, declaredEntries: 4 }, ['declared_count_differs']],
  ['nothing, where that number fits', { balances: null, declaredEntries: 3 }, []],
  ['settlements told late', { lateSettlements: 2 }, ['settlement_told_late']],
  ['settlements of nothing that we have', { unknownSettlements: 1 }, ['settlement_unknown_here']],
] as const)('what differs: %s', (_, over: Partial<Figures & Counts>, outcomes) => {
  const figures = { ...quiet, ...over, counts: { ...alike, ...over } }
  expect(differencesIn(figures).map(({ outcome }) => outcome)).toEqual([...outcomes])
})

const database = await createTestDatabase()
const { sql } = database
const worker = await runningWorker(database)

const { key, record } = testKey('spi:send', 'messages:read')
const { broker } = worker
const app = testApp(createReports({ ispb, sql, broker, revision: '5.11.1' }).routes ?? [], {
  keys: [record],
})

const receive = receivingOf(database, worker)

const brazilBehindMs = 3 * 3_600_000
const dayOf = (ms: number): string => new Date(ms - brazilBehindMs).toISOString().slice(0, 10)
const today = dayOf(Date.now())
const yesterday = dayOf(Date.now() - 86_400_000)
/** A moment of a day in Brazil, minutes after its noon. */
const noon = (day: string, minutes: number): string =>
  new Date(Date.parse(`${day}T15:00:00.000Z`) + minutes * 60_000).toISOString()
/** The last second of yesterday in Brazil: at every hour of today, less than a day ago. */
const lateYesterday = `${today}T02:59:59.000Z`

const settledAt = (xml: string, at: string): string =>
  xml.replace(
    '</TxInfAndSts>',
    `<FctvIntrBkSttlmDt><DtTm>${at}</DtTm></FctvIntrBkSttlmDt></TxInfAndSts>`,
  )

/** A payment to us of 10.50 that settled then. */
const received = async (at: string): Promise<string> => {
  const endToEndId = fresh.endToEndId()
  const settlement = settledAt(report([{ endToEndId, status: 'ACCC' }]), at)
  await receive(payment({ endToEndId }), settlement)
  return endToEndId
}

const sent = async (at: string, amountCents: bigint): Promise<string> => {
  const endToEndId = fresh.endToEndId()
  await queued(database, 'pacs.008', [{ endToEndId, amountCents }])
  await receive(settledAt(report([{ endToEndId, status: 'ACSC' }]), at))
  return endToEndId
}

const header = '<GrpHdr><MsgId>M1</MsgId><CreDtTm>2026-03-02T15:00:00.000Z</CreDtTm></GrpHdr>'
const account = `<Acct><Id><Othr><Id>${ispb}</Id></Othr></Id></Acct>`
const balance = (type: string, amount: string, at: string): string =>
  `<Bal><Tp><CdOrPrtry><Prtry>${type}</Prtry></CdOrPrtry></Tp><Amt Ccy="BRL">${amount}</Amt><CdtDbtInd>CRDT</CdtDbtInd><Dt><DtTm>${at}</DtTm></Dt></Bal>`
/** A camt.053: `held` is part of what the account has. */
const statement = (id: string, at: string, available: string, held: string): string =>
  envelope(
    'camt.053',
    '1.4',
    `<BkToCstmrStmt>${header}<Stmt><Id>${id}</Id>${account}${balance('SADP', available, at)}${balance('SABK', held, at)}${balance('REMN', '77.00', at)}</Stmt></BkToCstmrStmt>`,
  )
const count = (id: string, entries: number): string =>
  envelope(
    'camt.052',
    '1.3',
    `<BkToCstmrAcctRpt>${header}<Rpt><Id>${id}</Id>${account}<TxsSummry><TtlNtries><NbOfNtries>${entries}</NbOfNtries></TtlNtries></TxsSummry><AddtlRptInf>abc</AddtlRptInf></Rpt></BkToCstmrAcctRpt>`,
  )

const ask = async (body: object): Promise<string> => {
  const response = await app.call('POST', '/v1/pix/reports', { key, body })
  expect(response.status).toBe(202)
  return ((await response.json()) as { readonly request_id: string }).request_id
}
const told = async (at: string, available: string, held = '0.00'): Promise<void> =>
  receive(statement(await ask({ report: 'balances' }), at, available, held))

const entry = (at: string, endToEndId: string, cents: number, direction: 'CRDT' | 'DBIT') =>
  Buffer.from(
    build('00038166', 'CAMT054', {
      account_ispb: ispb,
      amount: cents,
      direction,
      status: 'BOOK',
      booking_date: dayOf(Date.parse(at)),
      value_date_time: at,
      domain: 'PMNT',
      family: 'RRCT',
      sub_family: 'DMCT',
      end_to_end_id: endToEndId,
      origin_message: 'pacs.008',
    }),
  ).toString()

const figures = async (day: string): Promise<readonly BookFigures[]> => {
  const response = await app.call('GET', `/v1/pix/figures?day=${day}`, { key })
  expect(response.status).toBe(200)
  return ((await response.json()) as { readonly figures: readonly BookFigures[] }).figures
}
const figuresIn = (document: string): Promise<Response> =>
  app.app.fetch(
    new Request('http://localhost/v1/pix/figures', {
      method: 'POST',
      headers: { 'Content-Type': 'application/xml', Authorization: `Bearer ${key}` },
      body: document,
    }),
  ) as Promise<Response>
const outcomes = (period: BookFigures | undefined): readonly string[] | undefined =>
  period?.differences.map(({ outcome }) => outcome)
const run = async (args: readonly string[], input = '') => {
  const said = { out: '', err: '' }
  const io = {
    env: { DATABASE_DSN: database.dsn },
    out: (text: string) => {
      said.out += text
    },
    err: (text: string) => {
      said.err += text
    },
    taken: async () => {},
    readInput: async () => Buffer.from(input),
  }
  return { code: await runCli(['reconcile', ...args], io, program), ...said }
}

test('what lies between two balances is held against our book, by the clock of the central bank', async () => {
  const at = (minutes: number): string => noon(today, minutes)
  await told(at(0), '1000.00', '7.00')
  const first = await received(at(0.5))
  await sent(at(1), 300n)
  await told(at(1), '1014.50')
  const [whole, one, ...more] = await figures(today)
  expect(more).toEqual([])
  expect(whole).toMatchObject({
    opening: null,
    closing: null,
    declared_entries: null,
    differences: [],
    ours: { credits: { count: 1, amount: '10.50' }, debits: { count: 1, amount: '3.00' } },
  })
  expect(one).toMatchObject({
    from: at(0),
    until: at(1),
    opening: '1007.00',
    closing: '1014.50',
    differences: [],
    ours: { credits: { count: 1, amount: '10.50' }, debits: { count: 1, amount: '3.00' } },
  })
  expect((await run(['--day', today])).code).toBe(1)

  // The next balance is a cent short of what our book makes, and the entries agree with the book.
  const second = await received(at(2))
  await receive(entry(at(2), second, 1_050, 'CRDT'))
  await told(at(3), '1024.99')
  const [, , short] = await figures(today)
  expect(outcomes(short)).toEqual([
    'balance_differs_though_entries_agree',
    'entries_do_not_make_balance',
  ])
  expect(short?.differences[0]).toMatchObject({ amount: '1024.99', our_amount: '1025.00' })

  // Only the entry tells of money paid in from another system.
  await receive(entry(at(4), `L${first.slice(1)}`, 5_000, 'CRDT'))
  await told(at(5), '1074.99')
  const [, , , funded] = await figures(today)
  expect(funded).toMatchObject({
    differences: [],
    others: { credits: { count: 1, amount: '50.00' } },
  })

  // A document that nobody has received: its balance, after the last that was told before.
  const later = statement('M1', at(6), '1080.00', '0.00')
  const response = await figuresIn(later)
  expect(response.status).toBe(200)
  const { figures: ofFile } = (await response.json()) as {
    readonly figures: readonly BookFigures[]
  }
  expect(ofFile.slice(1)).toMatchObject([
    { from: at(5), until: at(6), opening: '1074.99', closing: '1080.00' },
  ])
  expect(outcomes(ofFile[1])).toEqual(['balance_differs'])
  const byProgram = await run(['-', '--json'], later)
  expect([byProgram.code, JSON.parse(byProgram.out)]).toEqual([
    1,
    { differences: [], figures: ofFile },
  ])
  const shown = await run(['-'], later)
  expect(shown.out).toMatch(/closing balance +1080\.00/)
  expect(shown.out).toMatch(/1080\.00 +1074\.99 +balance_differs\n/)
})

test('the number of entries of a day that is over is held against our book', async () => {
  await received(lateYesterday)
  await received(lateYesterday)
  const asked = await ask({ report: 'entries', day: yesterday })
  // The request tells the day of a document that has not come yet.
  const before = await figuresIn(count(asked, 2))
  expect([before.status, await before.json()]).toMatchObject([
    200,
    { figures: [{ declared_entries: 2, differences: [] }] },
  ])
  await receive(count(asked, 3))
  const [whole] = await figures(yesterday)
  // When midnight has passed, yesterday is another day.
  if (dayOf(Date.now()) !== today) return
  expect(outcomes(whole)).toEqual(['declared_count_differs'])
  expect(whole).toMatchObject({
    declared_entries: 3,
    differences: [{ count: 3, our_count: 2 }],
  })
})

test('a settlement told more than a day late is of the day on which it was told, and of no other', async () => {
  const at = noon(dayOf(Date.now() - 3 * 86_400_000), 0)
  const days = [0, 1, 2, 3].map((ago) => dayOf(Date.now() - ago * 86_400_000))
  const countsOf = async () => {
    const all = await Promise.all(days.map(figures))
    return all.map(([whole]) => whole?.ours?.credits.count ?? 0)
  }
  const lateIn = async (day = today) => {
    const [whole] = await figures(day)
    return whole?.differences.filter(({ outcome }) => outcome === 'settlement_told_late')
  }
  const before = await countsOf()
  const endToEndId = await received(at)
  const after = await countsOf()
  // When midnight has passed, today is another day.
  if (dayOf(Date.now()) !== today) return
  expect(after.map((count, ago) => count - (before[ago] ?? 0))).toEqual([1, 0, 0, 0])
  expect(await lateIn()).toMatchObject([{ count: 1 }])
  expect(await lateIn(days[3])).toEqual([])
  await receive(settledAt(report([{ endToEndId, status: 'ACCC' }]), at))
  const earlier = await received(noon(today, 0))
  await receive(settledAt(report([{ endToEndId: earlier, status: 'ACCC' }]), at))
  expect(await countsOf()).toEqual(after.map((count, ago) => (ago === 0 ? count + 1 : count)))
  expect(await lateIn()).toMatchObject([{ count: 1 }])
})

test('a settlement of what we do not have is named', async () => {
  const unknown = fresh.endToEndId()
  await receive(settledAt(report([{ endToEndId: unknown, status: 'ACSC' }]), noon(today, 0)))
  const [whole] = await figures(today)
  expect(outcomes(whole)).toContain('settlement_unknown_here')
})

test('what is not signed by the central bank settles nothing', async () => {
  const forged = await received(noon(today, 60))
  const differing = async () => {
    const { differences } = await reconcile(sql, { day: today })
    return differences.filter(({ reference }) => reference === forged)
  }
  const known = await differing()
  await sql`
    update spi_messages set signature = 'INVALID' where id in (
      select message_id from spi_transactions where instruction_id = ${forged})`
  const unsigned = await differing()
  if (dayOf(Date.now()) !== today) return
  expect([known, unsigned]).toMatchObject([[{ outcome: 'missing_there' }], []])

  const settlement = settledAt(report([{ endToEndId: forged, status: 'ACCC' }]), noon(today, 61))
  const momentBy = (ok: boolean) => {
    const verifier = {
      verify: () => (ok ? { ok } : { ok, code: 'signature_invalid', message: 'no' }),
    } as unknown as MessageVerifier
    const context = {
      verifier,
      mustBeSigned: false,
      ispb,
      now: () => new Date(),
      scanner: createMessageScanner(nativeText),
      learnedVersions: new Set<string>(),
    }
    const delivery = { ...inbound(settlement), attempt: 1, publishedAt: new Date() }
    return readInbound(delivery as unknown as Delivery, context).message.transactions[0]?.settledAt
  }
  expect([momentBy(true), momentBy(false)]).toEqual([new Date(noon(today, 61)), undefined])
})

test('too much for one answer is said to be so, and no beginning of it is told', async () => {
  const bounds = { balancesMax: 1_000, countedMax: 0 }
  const [whole] = await figuresOf(sql, { days: [today, today], bounds })
  expect(whole && figuresView(whole)).toMatchObject({
    ours: null,
    reported: null,
    others: null,
    differences: [{ outcome: 'not_counted' }],
  })
})

test('the balances of a day are all compared, however many are told of the next', async () => {
  const day = '2026-03-03'
  for (const [moment, amount] of [
    ['2026-03-02T15:00:00.000Z', '1.00'],
    ['2026-03-02T16:00:00.000Z', '2.00'],
    ['2026-03-03T15:00:00.000Z', '3.00'],
    ['2026-03-03T16:00:00.000Z', '4.00'],
    ['2026-03-04T15:00:00.000Z', '5.00'],
    ['2026-03-04T16:00:00.000Z', '6.00'],
    ['2026-03-04T17:00:00.000Z', '7.00'],
  ] as const) {
    const id = Bun.randomUUIDv7('hex', new Date(moment))
    const balances = JSON.stringify([{ type: 'SADP', amount, at: moment }])
    await sql`insert into spi_reports (id, request_id, report, balances)
      values (${id}::uuid, ${id}, 'balances', ${balances}::text::jsonb)`
  }
  const told = async (balancesMax: number) => {
    const bounds = { balancesMax, countedMax: 1_000 }
    const [, ...periods] = (await figuresOf(sql, { days: [day, day], bounds })).map(figuresView)
    return periods.map(({ opening, closing }) => `${opening} ${closing}`)
  }
  expect(await told(2)).toEqual(['2.00 3.00', '3.00 4.00'])
  expect(await told(1)).toEqual([])
  const bounds = { balancesMax: 1, countedMax: 1_000 }
  const [whole] = await figuresOf(sql, { days: [day, day], bounds })
  expect(whole && differencesIn(whole)).toMatchObject([{ outcome: 'not_counted' }])
})

test.each([
  ['nothing that tells of an account', payment()],
  ['a camt.052 that was not asked for here', count('M9', 1)],
  [
    'a camt.054 of a day that does not exist',
    entry(noon(today, 0), fresh.endToEndId(), 5, 'CRDT').replace(/<Dt>[^<]+/, '<Dt>2026-13-45'),
  ],
  ['a balance of the year 0999', statement('M1', '0999-03-02T15:00:00.000Z', '1.00', '0.00')],
])('refused: %s', async (_, document) => {
  const response = await figuresIn(document)
  expect([response.status, await response.json()]).toMatchObject([400, { code: 'value_refused' }])
})

test('a settlement of a year that no clock shows is stored as settled when it came', async () => {
  const before = Date.now()
  const endToEndId = await received('0000-03-02T15:00:00.000Z')
  const [row] = await sql<{ at: Date }[]>`
    select settled_at as at from spi_transactions
    where instruction_id = ${endToEndId} and status = 'ACCC'`
  expect(row?.at.getTime()).toBeWithin(before - 1_000, Date.now() + 1)
})
