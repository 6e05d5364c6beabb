import { afterAll, beforeEach, expect, test } from 'bun:test'
import {
  insertMovements,
  standingAfter,
  totalsOf,
} from '../../../src/cards/reconciliation/movements.ts'
import * as store from '../../../src/cards/reconciliation/store.ts'
import { storedTotals } from '../../../src/cards/reconciliation/totals.ts'
import { createTestDatabase } from '../../support/database.ts'

const { addPassedOver, openDay } = store

/* What belongs to which day, currency and network. */

const database = await createTestDatabase()
const { sql } = database
afterAll(() => database.close())
beforeEach(async () => {
  await sql`truncate card_business_days, card_movements, card_reconciliations`
  await openDay(sql, 'neta', '2026-11-20')
})

const endDay = (
  of: typeof sql,
  network: string,
  waitSeconds: number,
  next: () => string,
  today = '2026-11-25',
) => store.endDay(of, network, waitSeconds, today, next)

const endTold = (
  of: Parameters<typeof store.endTold>[1],
  told: Parameters<typeof store.endTold>[2],
  today = '2026-11-25',
) => store.endTold(sql, of, told, { waitSeconds: 60, today })

let count = 0
const book = (
  cents: bigint,
  change: { day?: string; shiftMinutes?: number; currency?: string; network?: string } = {},
) => {
  const stan = String(++count).padStart(6, '0')
  const given = { network: 'neta', day: undefined, currency: 'BRL', ...change }
  const numbers = { stan, transmission: '1120000000', transactionId: `txn_${stan}` }
  return insertMovements(sql, [{ ...given, ...numbers, kind: 'debit', cents }])
}

const totals = async (network: string, day: string, currency: string) => {
  const { debit } = await totalsOf(sql, { network, day, currency })
  return [debit.count, debit.cents]
}

const due = async () => {
  const rows = await sql<{ day: string; currency: string }[]>`
    select day::text, currency from card_reconciliations order by id`
  return rows.map(({ day, currency }) => [day, currency])
}

test('a movement is of the day that the network told, and else of the one that is open', async () => {
  await book(100n)
  await book(20n, { day: '2026-11-21' })
  await book(3n, { currency: 'USD' })
  await book(5_000n, { network: 'netb', day: '2026-11-20' })
  expect(await totals('neta', '2026-11-20', 'BRL')).toEqual([1, 100n])
  expect(await totals('neta', '2026-11-21', 'BRL')).toEqual([1, 20n])
  expect(await totals('neta', '2026-11-20', 'USD')).toEqual([1, 3n])
  expect(await totals('netb', '2026-11-20', 'BRL')).toEqual([1, 5_000n])
  expect(await totals('neta', '2026-11-19', 'BRL')).toEqual([0, 0n])
})

test('where our clock ends days it is of the day by that of the database, or of a later one that is open', async () => {
  const now = new Date()
  // Then it is about noon of the first of these days.
  const shiftMinutes = (12 - now.getUTCHours()) * 60
  const [today, tomorrow, later] = [0, 1, 5].map((days) =>
    new Date(now.getTime() + days * 86_400_000).toISOString().slice(0, 10),
  ) as [string, string, string]
  await book(1n, { shiftMinutes })
  await book(2n, { shiftMinutes: shiftMinutes + 24 * 60 })
  await book(3n, { shiftMinutes, day: '2026-11-21' })
  expect(await totals('neta', today, 'BRL')).toEqual([1, 1n])
  expect(await totals('neta', tomorrow, 'BRL')).toEqual([1, 2n])
  expect(await totals('neta', '2026-11-21', 'BRL')).toEqual([1, 3n])
  await book(4n, { shiftMinutes, network: 'netb' })
  expect(await totals('netb', today, 'BRL')).toEqual([1, 4n])
  await openDay(sql, 'netb', later)
  await book(5n, { shiftMinutes, network: 'netb' })
  expect(await totals('netb', later, 'BRL')).toEqual([1, 5n])
})

test('a day that ends is compared with all that is before the next one, and never that', async () => {
  await book(1n)
  await book(2n, { currency: 'USD' })
  await book(3n, { day: '2026-11-21' })
  await book(4n, { day: '2026-11-22' })
  expect(await endDay(sql, 'neta', 0, () => '2026-11-22')).toBe('2026-11-20')
  expect(await due()).toEqual([
    ['2026-11-20', 'BRL'],
    ['2026-11-20', 'USD'],
    ['2026-11-21', 'BRL'],
  ])
})

test('a day in which nothing moved is compared in the national currency', async () => {
  expect(await endDay(sql, 'neta', 0, () => '2026-11-21')).toBe('2026-11-20')
  expect(await due()).toEqual([['2026-11-20', 'BRL']])
})

test('a day that a cut-over passed over is compared once something is booked in it', async () => {
  await book(1n, { day: '2026-11-19' })
  await endDay(sql, 'neta', 0, () => '2026-11-23')
  await addPassedOver(sql, 'neta', 0, '2026-11-23')
  expect(await due()).toEqual([['2026-11-20', 'BRL']])
  await book(2n, { day: '2026-11-22', currency: 'USD' })
  await book(3n, { day: '2026-11-24' })
  await book(4n)
  await book(5n, { network: 'netb', day: '2026-11-21' })
  await addPassedOver(sql, 'neta', 0, '2026-11-23')
  await book(6n, { day: '2026-11-22' })
  await addPassedOver(sql, 'neta', 0, '2026-11-23')
  const compared = [
    ['2026-11-20', 'BRL'],
    ['2026-11-22', 'USD'],
  ]
  expect(await due()).toEqual(compared)
  await store.completeDay(sql, { network: 'neta', day: '2026-11-22' })
  expect(await due()).toEqual([...compared, ['2026-11-22', 'BRL']])
})

test('a day that a cut-over passed over is compared when it is over by the calendar, not before', async () => {
  const later = { day: '2026-11-21', currency: 'USD' }
  const ended: readonly string[][] = [['2026-11-20', 'BRL']]
  await book(1n)
  await book(2n, { day: '2026-11-21' })
  await endDay(sql, 'neta', 0, () => '2026-11-23', '2026-11-20')
  await addPassedOver(sql, 'neta', 0, '2026-11-20')
  expect(await due()).toEqual([...ended])
  await book(3n, { day: '2026-11-22' })
  await addPassedOver(sql, 'neta', 0, '2026-11-21')
  expect(await due()).toEqual([...ended])
  await book(4n, later)
  await addPassedOver(sql, 'neta', 0, '2026-11-22')
  const next = [...ended, ['2026-11-21', 'BRL'], ['2026-11-21', 'USD']]
  expect((await due()).toSorted()).toEqual(next)
  await addPassedOver(sql, 'neta', 0, '2026-11-23')
  expect((await due()).toSorted()).toEqual([...next, ['2026-11-22', 'BRL']])
})

test('what was told of a day that is passed over is counted again when that is over, too', async () => {
  const told = { ...ofDay, day: '2026-11-22' }
  const ours = storedTotals(await totalsOf(sql, told), false)
  await endTold(told, { status: 'balanced', ours, theirs: ours })
  await endDay(sql, 'neta', 60, () => '2026-11-23', '2026-11-20')
  const [row] = await sql`
    select extract(epoch from next_attempt_at - now())::float8 as seconds
    from card_reconciliations where day = '2026-11-22'`
  expect(Number(row?.['seconds']) / 86_400).toBeCloseTo(3, 1)
})

test('so is what is told of such a day after the cut-over, in all its currencies', async () => {
  const told = { ...ofDay, day: '2026-11-22' }
  await endDay(sql, 'neta', 0, () => '2026-11-23', '2026-11-20')
  const ours = storedTotals(await totalsOf(sql, told), false)
  await endTold(told, { status: 'balanced', ours, theirs: ours }, '2026-11-20')
  await book(1n, { day: told.day })
  await book(2n, { day: told.day, currency: 'USD' })
  const ofThatDay = async () => (await due()).filter(([day]) => day === told.day)
  await pass(2 * 86_400)
  await store.recountTold(sql, 'neta')
  expect(await ofThatDay()).toEqual([[told.day, 'BRL']])
  await pass(86_400 + 60)
  await store.recountTold(sql, 'neta')
  // As whoever takes it up does first.
  await store.completeDay(sql, told)
  expect(await ofThatDay()).toEqual([
    [told.day, 'BRL'],
    [told.day, 'USD'],
  ])
  const rows = await sql`select status from card_reconciliations where day = ${told.day}`
  expect(rows.map(({ status }) => status as string)).toEqual(['pending', 'pending'])
})

test('whoever stood still for longer than its lease decides nothing that another has taken up', async () => {
  await book(1n)
  await endDay(sql, 'neta', 0, () => '2026-11-21')
  const told = { responseCode: '00', settlementCode: undefined, theirs: undefined }
  const [balanced, different] = [
    { status: 'balanced', ...told },
    { status: 'different', ...told },
  ] as const
  const numbers = { stan: '000001', transmission: '1121000000' }
  const late = (await store.claimDue(sql, 'neta', 0))!
  expect(await store.beginAttempt(sql, late, {} as never, numbers)).toBe(true)
  const now = (await store.claimDue(sql, 'neta', 600))!
  const row = async () => (await sql`select * from card_reconciliations`)[0]
  const before = await row()
  expect(await store.beginAttempt(sql, late, {} as never, numbers)).toBe(false)
  await store.release(sql, late, 0, true, undefined)
  await store.beginUpload(sql, late, different)
  expect(await store.end(sql, late, different)).toBe(false)
  expect(await row()).toEqual(before)

  await store.beginUpload(sql, now, balanced)
  const stale = (await store.claimDue(sql, 'neta', 0))!
  const next = (await store.claimDue(sql, 'neta', 600))!
  const uploading = await row()
  expect(await store.beginUploading(sql, stale, { id: 1n, cents: 1n }, numbers)).toBe(false)
  await store.uploaded(sql, stale, 1n, 'taken')
  await store.endUpload(sql, stale)
  expect(await row()).toEqual(uploading)
  await store.endUpload(sql, next)
  const last = (await store.claimDue(sql, 'neta', 600))!
  expect(await store.end(sql, late, different)).toBe(false)
  expect(await store.end(sql, last, balanced)).toBe(true)
})

const ofDay = { network: 'neta', day: '2026-11-20', currency: 'BRL' }
const tell = async (counts = false): Promise<void> => {
  const ours = storedTotals(await totalsOf(sql, ofDay), counts)
  await endTold(ofDay, { status: 'balanced', ours, theirs: ours })
}
const statusOf = async () => (await sql`select status from card_reconciliations`)[0]?.['status']
const pass = (seconds: number) => sql`
  update card_reconciliations set ended_at = ended_at - make_interval(secs => ${seconds}),
    next_attempt_at = next_attempt_at - make_interval(secs => ${seconds})`

test('what was told of an open day is its result only where nothing was booked until the wait is over', async () => {
  await tell()
  await endDay(sql, 'neta', 60, () => '2026-11-21')
  await store.recountTold(sql, 'neta')
  await book(5_000n, { day: '2026-11-20' })
  await store.recountTold(sql, 'neta')
  expect(await statusOf()).toBe('balanced')
  await pass(60)
  await store.recountTold(sql, 'neta')
  expect(await store.claimDue(sql, 'neta', 600)).toMatchObject({ day: '2026-11-20', ours: null })
  expect(await statusOf()).toBe('pending')
})

test('what was told of a day and holds is counted again once', async () => {
  await tell()
  await endDay(sql, 'neta', 0, () => '2026-11-21')
  await store.recountTold(sql, 'neta')
  await book(5_000n, { day: '2026-11-20' })
  await store.recountTold(sql, 'neta')
  expect(await statusOf()).toBe('balanced')
})

test('what a network tells between the end of a day and its comparison is counted again too', async () => {
  await endDay(sql, 'neta', 60, () => '2026-11-21')
  await tell()
  await book(5_000n, { day: '2026-11-20' })
  await pass(60)
  await store.recountTold(sql, 'neta')
  expect(await statusOf()).toBe('pending')
})

test('the same told again does not end a day that is to be compared anew', async () => {
  const ours = storedTotals(await totalsOf(sql, ofDay), false)
  await tell()
  await book(5_000n)
  await endDay(sql, 'neta', 0, () => '2026-11-21')
  await store.recountTold(sql, 'neta')
  await endTold(ofDay, { status: 'different', ours, theirs: ours })
  expect(await statusOf()).toBe('pending')
})

test.each([
  [true, 'pending'],
  [false, 'balanced'],
])('authorizations that came later count where they are compared: %p', async (counts, status) => {
  await tell(counts)
  await insertMovements(sql, [
    {
      ...ofDay,
      kind: 'authorization',
      cents: 5n,
      stan: '900000',
      transmission: '1120000000',
      transactionId: 'txn_a',
    },
  ])
  await endDay(sql, 'neta', 0, () => '2026-11-21')
  await store.recountTold(sql, 'neta')
  expect(await statusOf()).toBe(status)
})

test('a currency that is first booked during the wait after what was told is compared too', async () => {
  await book(1n)
  await tell()
  await endDay(sql, 'neta', 60, () => '2026-11-21')
  await book(2n, { day: '2026-11-20', currency: 'USD' })
  await book(3n, { day: '2026-11-21', currency: 'USD' })
  await store.recountTold(sql, 'neta')
  expect(await due()).toEqual([['2026-11-20', 'BRL']])
  await pass(60)
  await store.recountTold(sql, 'neta')
  expect(await due()).toEqual([
    ['2026-11-20', 'BRL'],
    ['2026-11-20', 'USD'],
  ])
  expect(await store.claimDue(sql, 'neta', 600)).toMatchObject({ currency: 'USD' })
})

test('what is told again has the result that it has by now, and is somebody’s business where that differs', async () => {
  const again = async (status: 'balanced' | 'different') => {
    const theirs = storedTotals(await totalsOf(sql, { ...ofDay, currency: 'USD' }), false)
    const ours = storedTotals(await totalsOf(sql, ofDay), false)
    await endTold(ofDay, { status, ours, theirs })
    const [row] = await sql`
      select status, ours -> 'debit' ->> 'count' as count, resolved_at from card_reconciliations`
    return row
  }
  await again('balanced')
  await book(1n)
  expect(await again('different')).toEqual({ status: 'different', count: '1', resolved_at: null })
  await sql`update card_reconciliations set resolved_at = now()`
  expect(await again('different')).toMatchObject({ resolved_at: expect.any(Date) })
  expect(await again('balanced')).toMatchObject({ status: 'balanced', resolved_at: null })
})

test('what is told again ends a day that had no answer when it was compared anew', async () => {
  const ours = storedTotals(await totalsOf(sql, ofDay), false)
  await tell()
  await book(5_000n)
  await endDay(sql, 'neta', 0, () => '2026-11-21')
  await store.recountTold(sql, 'neta')
  await store.giveUp(sql, 'neta', { waitSeconds: 0, expiryHours: 0 })
  expect(await statusOf()).toBe('unanswered')
  await endTold(ofDay, { status: 'different', ours, theirs: ours })
  expect(await statusOf()).toBe('different')
})

test('the time in which a network has to answer begins after the wait, however long that is', async () => {
  await book(5_000n)
  await endDay(sql, 'neta', 43_200, () => '2026-11-21')
  const after = async (hours: number): Promise<string | undefined> => {
    await sql`update card_reconciliations set created_at = now() - make_interval(hours => ${hours})`
    await store.giveUp(sql, 'neta', { waitSeconds: 43_200, expiryHours: 1 })
    return statusOf()
  }
  expect([await after(12), await after(13)]).toEqual(['pending', 'unanswered'])
})

test('what stands is found behind any number of what was taken back, and in its own day alone', async () => {
  const day = '2026-11-20'
  await sql`
    insert into card_movements (network, day, currency, kind, amount_cents, transaction_id, stan, transmission)
    select 'neta', ${day}::date, 'BRL', kind, 100, 'txn_' || n, lpad(n::text, 6, '0'), '1120000000'
    from generate_series(1, 1200) n, (values ('debit'), ('debit_reversal')) as t(kind)`
  count = 5_000
  await book(700n, { currency: 'USD' })
  await book(700n, { network: 'netb' })
  await book(700n, { day: '2026-11-21' })
  await book(800n)
  const of = { network: 'neta', day, currency: 'BRL' } as const
  const found = await standingAfter(sql, { ...of, uploadedTo: null })
  expect(found).toMatchObject({ cents: 800n, kind: 'debit', isAdvised: false })
  expect(await standingAfter(sql, { ...of, uploadedTo: found?.id ?? null })).toBeUndefined()
})
