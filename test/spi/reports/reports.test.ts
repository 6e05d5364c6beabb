import { expect, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { dayAt, dayMs, startOfDay } from '#src/platform/runtime/index.ts'
import { createReports, reconcile } from '#src/spi/index.ts'
import { runCli } from '../../../src/cli/index.ts'
import { program } from '../../../src/main.ts'
import { expectOwnedByAccount, testApp, testKey } from '../../support/app.ts'
import { createTestDatabase } from '../../support/database.ts'
import { anyVariant, runProgram } from '../../support/program.ts'
import { temporaryDirectory } from '../../support/temporary.ts'
import {
  envelope,
  fresh,
  ispb,
  payment,
  paymentReturn,
  queued,
  receivingOf,
  report,
  runningWorker,
} from '../in/worker/support.ts'
import { notification, withEntries } from './support.ts'

const database = await createTestDatabase()
const { sql } = database
const worker = await runningWorker(database)
await sql`insert into webhook_endpoints (id, url, events) values ('e', 'http://127.0.0.1:1/', '{pix.*}')`

const { key, record } = testKey('spi:send', 'messages:read')
const { broker } = worker
const app = testApp(createReports({ ispb, sql, broker, revision: '5.11.1' }).routes ?? [], {
  keys: [record],
})

type Json = Readonly<Record<string, never>>
const get = async (path: string): Promise<Json> =>
  (await (await app.call('GET', path, { key })).json()) as Json
const ask = async (body: object): Promise<Json> => {
  const response = await app.call('POST', '/v1/pix/reports', { key, body })
  expect(response.status).toBe(202)
  return (await response.json()) as Json
}

const receive = receivingOf(database, worker)

const entryOf = async (reference: string): Promise<Json | undefined> => {
  const { entries } = (await get('/v1/pix/entries?limit=500')) as {
    readonly entries?: readonly (Json & { readonly reference: string })[]
  }
  return entries?.find((one) => one.reference === reference)
}

const eventsOf = async (reference: string): Promise<readonly Json[]> => {
  const rows = await sql<{ data: string }[]>`
    select data from webhook_events where subject = ${reference} and type = 'pix.entry.differs'`
  return rows.map(({ data }) => JSON.parse(data) as Json)
}

const settled = async (): Promise<string> => {
  const endToEndId = fresh.endToEndId()
  await receive(payment({ endToEndId }), report([{ endToEndId, status: 'ACCC' }]))
  return endToEndId
}

/** A payment to us that a reply of ours refuses, which has come so far, and maybe another one. */
const refusedHere = async (replyStatus: string, other?: string): Promise<string> => {
  const endToEndId = fresh.endToEndId()
  await receive(payment({ endToEndId }))
  for (const status of ['RJCT', ...(other === undefined ? [] : [other])]) {
    const reply = [{ endToEndId, instructionId: endToEndId, status }]
    const { id } = await queued(database, 'pacs.002', reply)
    await sql`update spi_messages set status = ${replyStatus} where id = ${id}::uuid`
    // A second reply is of another version, which knew no orders.
    await sql`delete from spi_message_keys where message_id = ${id}::uuid`
  }
  return endToEndId
}

test('an entry that we have matches, and is no event', async () => {
  const endToEndId = await settled()
  const returnId = fresh.returnId()
  await queued(database, 'pacs.004', [{ endToEndId, instructionId: returnId, amountCents: 300n }])
  await receive(
    notification({ endToEndId }),
    notification({ endToEndId, returnId, cents: 300, direction: 'DBIT' }),
  )
  expect(await entryOf(endToEndId)).toMatchObject({
    outcome: 'matched',
    amount: '10.50',
    our_amount: '10.50',
    direction: 'CRDT',
    booked_on: '2026-03-02',
  })
  expect(await entryOf(returnId)).toMatchObject({ outcome: 'matched', end_to_end_id: endToEndId })
  expect(await eventsOf(endToEndId)).toEqual([])
})

test('another amount differs by both amounts', async () => {
  const endToEndId = await settled()
  await receive(notification({ endToEndId, cents: 1_051 }))
  const difference = { outcome: 'amount_differs', amount: '10.51', our_amount: '10.50' }
  expect(await entryOf(endToEndId)).toMatchObject(difference)
  expect(await eventsOf(endToEndId)).toMatchObject([{ reference: endToEndId, ...difference }])
})

test.each([
  ['that nobody knows', async () => fresh.endToEndId(), 'CRDT'],
  ['of the other direction', settled, 'DBIT'],
  [
    'of a payment that was refused',
    async () => {
      const endToEndId = fresh.endToEndId()
      await queued(database, 'pacs.008', [{ endToEndId }])
      await receive(report([{ endToEndId, status: 'RJCT', reason: 'AM04' }]))
      return endToEndId
    },
    'DBIT',
  ],
  [
    'of a payment to us that the central bank refused',
    async () => {
      const endToEndId = fresh.endToEndId()
      await receive(
        payment({ endToEndId }),
        report([{ endToEndId, status: 'RJCT', reason: 'AB03' }]),
      )
      return endToEndId
    },
    'CRDT',
  ],
  ['of a payment to us that we refused', () => refusedHere('SENT'), 'CRDT'],
] as const)('an entry %s is missing here', async (_, known, direction) => {
  const endToEndId = await known()
  await receive(notification({ endToEndId, direction }))
  const difference = { outcome: 'missing_here', amount: '10.50', our_amount: null }
  expect(await entryOf(endToEndId)).toMatchObject(difference)
  expect(await eventsOf(endToEndId)).toMatchObject([difference])
})

test('an entry of a return to us that was refused is missing here', async () => {
  const [endToEndId, returnId] = [fresh.endToEndId(), fresh.returnId()]
  await queued(database, 'pacs.008', [{ endToEndId }])
  const refused = { endToEndId, instructionId: returnId, status: 'RJCT', reason: 'AB03' }
  await receive(
    report([{ endToEndId, status: 'ACSC' }]),
    paymentReturn(endToEndId, returnId),
    report([refused]),
    notification({ endToEndId, returnId }),
  )
  expect(await entryOf(returnId)).toMatchObject({ outcome: 'missing_here' })
})

test.each([
  ['our refusal was not told', () => refusedHere('QUEUED')],
  ['our refusal was not taken', () => refusedHere('REJECTED')],
  ['another reply of ours says otherwise', () => refusedHere('SENT', 'ACSP')],
  [
    'the central bank settled it after all',
    async () => {
      const endToEndId = await refusedHere('SENT')
      await receive(report([{ endToEndId, status: 'ACCC' }]))
      return endToEndId
    },
  ],
])('an entry of a payment to us matches where %s', async (_, known) => {
  const endToEndId = await known()
  await receive(notification({ endToEndId }))
  expect(await entryOf(endToEndId)).toMatchObject({ outcome: 'matched' })
})

test('an entry that was asked for and is not there, though settled here, is missing there', async () => {
  const endToEndId = await settled()
  const asked = await ask({ report: 'entry', entry_id: endToEndId })
  expect(asked).toMatchObject({ report: 'entry', state: 'requested', entry_id: endToEndId })
  const [row] = await sql`select type, status from spi_messages where id = ${String(asked['id'])}`
  expect(row).toMatchObject({ type: 'camt.060', status: 'QUEUED' })
  const nothing = `L${endToEndId.slice(1)}`
  await receive(
    notification({ requestId: asked['request_id'] ?? '', endToEndId: nothing, isMissing: true }),
  )
  const difference = { outcome: 'missing_there', amount: null, our_amount: '10.50' }
  expect(await entryOf(endToEndId)).toMatchObject(difference)
  expect(await eventsOf(endToEndId)).toMatchObject([difference])
  expect(await get(`/v1/pix/reports/${asked['id']}`)).toMatchObject({ state: 'answered' })
  const { entries } = await get(`/v1/pix/entries?request_id=${asked['request_id']}`)
  expect(entries).toHaveLength(1)
})

test('balances and the number of entries stand on the report', async () => {
  const [balances, entries] = [
    await ask({ report: 'balances' }),
    await ask({ report: 'entries', day: '2026-03-02' }),
  ]
  const header = '<GrpHdr><MsgId>M1</MsgId><CreDtTm>2026-03-02T15:00:00.000Z</CreDtTm></GrpHdr>'
  const account = `<Acct><Id><Othr><Id>${ispb}</Id></Othr></Id></Acct>`
  await receive(
    envelope(
      'camt.053',
      '1.4',
      `<BkToCstmrStmt>${header}<Stmt><Id>${balances['request_id']}</Id>${account}<Bal><Tp><CdOrPrtry><Prtry>SADP</Prtry></CdOrPrtry></Tp><Amt Ccy="BRL">7.00</Amt><CdtDbtInd>CRDT</CdtDbtInd><Dt><DtTm>2026-03-02T15:00:00.000Z</DtTm></Dt></Bal></Stmt></BkToCstmrStmt>`,
    ),
    envelope(
      'camt.052',
      '1.3',
      `<BkToCstmrAcctRpt>${header}<Rpt><Id>${entries['request_id']}</Id>${account}<TxsSummry><TtlNtries><NbOfNtries>3</NbOfNtries></TtlNtries></TxsSummry><AddtlRptInf>abc</AddtlRptInf></Rpt></BkToCstmrAcctRpt>`,
    ),
  )
  expect(await get(`/v1/pix/reports/${balances['id']}`)).toMatchObject({
    state: 'answered',
    balances: [{ type: 'SADP', amount: '7.00', at: '2026-03-02T15:00:00.000Z' }],
  })
  expect(await get(`/v1/pix/reports/${entries['id']}`)).toMatchObject({
    state: 'answered',
    day: '2026-03-02',
    declared_entries: 3,
    file_hash: 'abc',
  })
})

test('lists go page by page, by outcome', async () => {
  for (let n = 0; n < 3; n++) await receive(notification({ endToEndId: fresh.endToEndId() }))
  const seen: string[] = []
  let cursor = ''
  for (;;) {
    const page = await get(`/v1/pix/entries?outcome=missing_here&limit=2${cursor}`)
    const entries = page['entries'] as unknown as readonly {
      readonly reference: string
      readonly outcome: string
    }[]
    expect(entries.every(({ outcome }) => outcome === 'missing_here')).toBe(true)
    seen.push(...entries.map(({ reference }) => reference))
    if (page['next_cursor'] === null) break
    cursor = `&cursor=${page['next_cursor']}`
  }
  const [row] = await sql<{ count: number }[]>`
    select count(*)::int as count from spi_entries where outcome = 'missing_here'`
  expect([seen.length, new Set(seen).size]).toEqual([row?.count ?? -1, row?.count ?? -1])
  const { reports, next_cursor: next } = await get('/v1/pix/reports?limit=1')
  expect(reports).toHaveLength(1)
  expect(next).not.toBeNull()
})

test('a request belongs to the account by its Idempotency-Key, and a bad one is refused', async () => {
  await expectOwnedByAccount((headers) =>
    app.call('POST', '/v1/pix/reports', { key, body: { report: 'balances' }, headers }),
  )
  for (const body of [
    { report: 'entry' },
    { report: 'entry', entry_id: 'X' },
    { report: 'entries', day: '2026-02-30' },
    { report: 'balances', day: '2026-03-02' },
  ]) {
    expect((await app.call('POST', '/v1/pix/reports', { key, body })).status).toBe(400)
  }
  expect((await app.call('GET', '/v1/pix/reports/none', { key })).status).toBe(404)
})

type Walked = { readonly differences: readonly Json[]; readonly next_cursor: string | null }

/** All pages of a walk, each of one difference. */
const walked = async (next: (cursor: string) => Promise<Walked>): Promise<readonly Json[]> => {
  const all: Json[] = []
  for (let cursor = ''; ; ) {
    const page = await next(cursor === '' ? '' : `&cursor=${cursor}`)
    expect(page.differences.length).toBeLessThanOrEqual(1)
    all.push(...page.differences)
    if (page.next_cursor === null) return all
    cursor = page.next_cursor
  }
}

/** Brazil's day of now. */
const today = (): string => dayAt(new Date())

test('what lies in the future is not asked for, nor compared', async () => {
  const tomorrow = new Date(startOfDay(today()).getTime() + dayMs)
  const day = dayAt(tomorrow)
  const idIn = (hours: number) =>
    `E${ispb}${new Date(Date.now() + hours * 3_600_000).toISOString().replace(/\D/g, '').slice(0, 12)}${'a'.repeat(11)}`
  // A number tells its day alone, which is ahead when it begins in more than twelve hours, whatever the time of day now.
  const ahead = dayAt(new Date(tomorrow.getTime() + dayMs)).replaceAll('-', '')
  const control = `STR${ahead}${'1'.repeat(9)}`
  for (const [pointer, body] of [
    ['/day', { report: 'entries', day }],
    ['/day', { report: 'entries', day: '2099-12-31' }],
    ['/entry_id', { report: 'entry', entry_id: idIn(12.1) }],
    ['/entry_id', { report: 'entry', entry_id: control }],
  ] as const) {
    const refused = await app.call('POST', '/v1/pix/reports', { key, body })
    expect(refused.status).toBe(400)
    expect(await refused.json()).toMatchObject({ code: 'value_refused', errors: [{ pointer }] })
  }
  await ask({ report: 'entries', day: today() })
  await ask({ report: 'entry', entry_id: idIn(11.9) })
  for (const path of ['differences', 'figures']) {
    const refused = await app.call('GET', `/v1/pix/${path}?day=${day}`, { key })
    expect(await refused.json()).toMatchObject({ status: 400, code: 'value_refused' })
    expect((await app.call('GET', `/v1/pix/${path}?day=${today()}`, { key })).status).toBe(200)
    const told = await app.app.fetch(
      new Request(`http://localhost/v1/pix/${path}`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/xml', Authorization: `Bearer ${key}` },
        body: Buffer.from(notification({ endToEndId: fresh.endToEndId(), day })),
      }),
    )
    expect(await told.json()).toMatchObject({ status: 400, code: 'value_refused' })
  }
})

test('a day is walked in both books, whichever differs, a page at a time', async () => {
  const day = today()
  const alike = await settled()
  const other = await settled()
  const unreported = await settled()
  const pending = fresh.endToEndId()
  await receive(payment({ endToEndId: pending }))
  const [refused, refusedThere] = [fresh.endToEndId(), fresh.endToEndId()]
  for (const endToEndId of [refused, refusedThere]) {
    await receive(payment({ endToEndId }), report([{ endToEndId, status: 'RJCT', reason: 'AB03' }]))
  }
  const denied = await refusedHere('SENT')
  const unknown = fresh.endToEndId()
  const booked = [
    { endToEndId: alike },
    { endToEndId: other, cents: 999 },
    { endToEndId: pending },
    { endToEndId: refusedThere },
    { endToEndId: denied },
    { endToEndId: unknown, cents: 5 },
  ].map((entry) => ({ ...entry, day }))
  const mine = new Set([alike, other, unreported, pending, refused, refusedThere, denied, unknown])
  const only = (all: readonly Json[]) =>
    all.filter(({ reference }) => mine.has(reference as unknown as string))
  const expected = [
    {
      outcome: 'amount_differs',
      reference: other,
      amount: '9.99',
      our_amount: '10.50',
      our_status: 'settled',
    },
    { outcome: 'status_differs', reference: pending, our_status: 'pending', amount: '10.50' },
    { outcome: 'status_differs', reference: refusedThere, our_status: 'refused' },
    { outcome: 'status_differs', reference: denied, our_status: 'refused' },
    {
      outcome: 'missing_here',
      reference: unknown,
      amount: '0.05',
      our_amount: null,
      our_status: null,
    },
    {
      outcome: 'missing_there',
      reference: unreported,
      amount: null,
      our_amount: '10.50',
      direction: 'CRDT',
    },
  ]

  const file = withEntries(booked.map(notification))
  const compare = async (more: string): Promise<Walked> => {
    const path = `/v1/pix/differences?limit=1${more}`
    const response = await app.app.fetch(
      new Request(`http://localhost${path}`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/xml', Authorization: `Bearer ${key}` },
        body: file,
      }),
    )
    expect(response.status).toBe(200)
    return (await response.json()) as Walked
  }
  const compared = only(await walked(compare))

  await receive(...booked.map(notification))
  const ofDay = async (more: string): Promise<Walked> =>
    (await get(`/v1/pix/differences?day=${day}&limit=1${more}`)) as unknown as Walked
  const reported = only(await walked(ofDay))

  const ofBooks = await reconcile(sql, { day })
  expect(only(ofBooks.differences as unknown as Json[])).toHaveLength(reported.length)
  const fromFile = await reconcile(sql, { document: Buffer.from(file) })
  expect(only(fromFile.differences as unknown as Json[])).toHaveLength(compared.length)

  // An entry that is told again counts as it was told last.
  await receive(notification({ endToEndId: other, day }))
  const corrected = only(await walked(ofDay))
  // At midnight the settlements are of two days.
  if (today() !== day) return
  expect(compared).toMatchObject(expected)
  expect(reported).toMatchObject(expected)
  expect(corrected).toMatchObject(expected.slice(1))
})

test.each([
  ['a query about it that failed', { isMissing: true }],
  ['an entry for information', { status: 'INFO' }],
] as const)('%s takes no booked entry out of the books', async (_, later) => {
  const endToEndId = await settled()
  const day = today()
  await receive(notification({ endToEndId, day }))
  const counted = async () =>
    (await reconcile(sql, { day })).figures[0]?.reported?.credits.count as unknown as number
  const before = await counted()
  const { request_id: requestId = '' } = await ask({ report: 'entry', entry_id: endToEndId })
  await receive(notification({ endToEndId, day, requestId, ...later }))
  const answer = await get(`/v1/pix/entries?request_id=${requestId}`)
  const { differences } = await reconcile(sql, { day })
  const after = await counted()
  if (today() !== day) return
  expect(answer).toMatchObject({ entries: [{ outcome: 'not_compared' }] })
  expect(differences.filter(({ reference }) => reference === endToEndId)).toEqual([])
  expect(after).toBe(before)
})

test('what was told for information alone is not booked there', async () => {
  const endToEndId = await settled()
  const day = today()
  await receive(notification({ endToEndId, day, status: 'INFO' }))
  const { differences } = await reconcile(sql, { day })
  if (today() !== day) return
  expect(differences.filter(({ reference }) => reference === endToEndId)).toMatchObject([
    { outcome: 'missing_there' },
  ])
})

test('a walk stays on its day, whatever day it is when it goes on', async () => {
  const day = '2026-01-05'
  const references = [fresh.endToEndId(), fresh.endToEndId()]
  await receive(...references.map((endToEndId) => notification({ endToEndId, day })))
  const first = await get(`/v1/pix/differences?day=${day}&limit=1`)
  const next = `/v1/pix/differences?limit=1&cursor=${first['next_cursor']}`
  const page = (reference: string | undefined) => ({ differences: [{ reference }] })
  expect(first).toMatchObject(page(references[0]))
  expect(await get(next)).toMatchObject(page(references[1]))
  expect(await get(`${next}&day=${day}`)).toMatchObject(page(references[1]))
  expect(await get(`${next}&day=2026-01-06`)).toMatchObject({
    code: 'value_refused',
    errors: [{ pointer: 'day' }],
  })
})

test('what is no statement is refused', async () => {
  const post = async (body: string): Promise<Json> => {
    const response = await app.app.fetch(
      new Request('http://localhost/v1/pix/differences', {
        method: 'POST',
        headers: { 'Content-Type': 'application/xml', Authorization: `Bearer ${key}` },
        body,
      }),
    )
    expect(response.status).toBe(400)
    return (await response.json()) as Json
  }
  expect(await post('<a>')).toMatchObject({ code: 'bad_request' })
  expect(await post(payment())).toMatchObject({ code: 'value_refused' })
})

test('trilho reconcile ends with 1 where books differ, with 0 where they do not, with 2 for what it is not to do', async () => {
  const reference = fresh.endToEndId()
  // Long before anything of this database: the books of that day hold this entry alone.
  const day = '2026-01-02'
  const input = withEntries([notification({ endToEndId: reference, cents: 5, day })])
  const env = { DATABASE_DSN: database.dsn }
  const run = async (...args: readonly string[]) => {
    const said = { out: '', err: '' }
    const code = await runCli(
      ['reconcile', ...args],
      {
        env,
        out: (text) => {
          said.out += text
        },
        err: (text) => {
          said.err += text
        },
        taken: async () => {},
        readInput: async () => Buffer.from(input),
      },
      program,
    )
    return { code, ...said }
  }
  const differing = await runProgram(anyVariant, ['reconcile', '-', '--json'], { env, input })
  const nothing = { credits: { count: 0, amount: '0.00' }, debits: { count: 0, amount: '0.00' } }
  expect([differing.code, JSON.parse(differing.out)]).toEqual([
    1,
    {
      differences: [
        {
          outcome: 'missing_here',
          reference,
          direction: 'CRDT',
          amount: '0.05',
          our_amount: null,
          our_status: null,
        },
      ],
      figures: [
        {
          from: '2026-01-02T03:00:00.000Z',
          until: '2026-01-03T03:00:00.000Z',
          opening: null,
          closing: null,
          declared_entries: null,
          ours: nothing,
          reported: { ...nothing, credits: { count: 1, amount: '0.05' } },
          others: nothing,
          differences: [
            {
              outcome: 'count_differs',
              direction: 'CRDT',
              count: 1,
              our_count: 0,
              amount: '0.05',
              our_amount: '0.00',
            },
          ],
        },
      ],
    },
  ])
  const row = expect.stringContaining(`missing_here  ${reference}`)
  expect(await run('-')).toEqual({ code: 1, out: row, err: '' })
  const alike = expect.stringMatching(/^both books say the same\n\nPERIOD /)
  expect(await run('--day', day)).toEqual({ code: 0, out: alike, err: '' })
  const aboutDay = expect.stringContaining('--day')
  expect(await run('-', '--day', day)).toEqual({ code: 2, out: '', err: aboutDay })
  expect(await run('--day', '2026-02-30')).toEqual({ code: 2, out: '', err: aboutDay })
  expect(await run('--day', '2099-12-31')).toMatchObject({ code: 2, out: '' })
  expect(await run('/dev/null')).toMatchObject({
    code: 1,
    out: '',
    err: expect.stringMatching(/^trilho reconcile: \/dev\/null: .+\n$/),
  })
  const file = join(temporaryDirectory(), 'payment.xml')
  writeFileSync(file, payment())
  const said = 'is no camt.054 with an entry that is booked on a day'
  expect((await run(file)).err).toStartWith(`trilho reconcile: ${file}: ${said}`)
})

test('a settlement is of the day on which it settled, or was told where that is not near', async () => {
  const day = today()
  const startMs = startOfDay(day).getTime()
  const yesterday = dayAt(startMs - 1)
  const threeBack = dayAt(startMs - 3 * dayMs)
  const receiveSettled = async (atMs: number) => {
    const endToEndId = fresh.endToEndId()
    const at = new Date(atMs).toISOString()
    const settlement = report([{ endToEndId, status: 'ACCC' }]).replace(
      '</TxInfAndSts>',
      `<FctvIntrBkSttlmDt><DtTm>${at}</DtTm></FctvIntrBkSttlmDt></TxInfAndSts>`,
    )
    await receive(payment({ endToEndId }), settlement)
    return endToEndId
  }
  const near = await receiveSettled(startMs - 1)
  const late = await receiveSettled(startMs - 3 * dayMs)
  const ahead = await receiveSettled(startMs + 3 * dayMs)
  const outcomesOf = async (of: string) => {
    const { differences } = await reconcile(sql, { day: of })
    return [near, late, ahead].map((endToEndId) =>
      differences.flatMap((one) => (one.reference === endToEndId ? [one.outcome] : [])),
    )
  }
  const ofToday = await outcomesOf(day)
  const before = [await outcomesOf(yesterday), await outcomesOf(threeBack)]
  if (today() !== day) return
  expect(ofToday).toEqual([[], ['missing_there'], ['missing_there']])
  expect(before).toEqual([
    [['missing_there'], [], []],
    [[], [], []],
  ])
})
