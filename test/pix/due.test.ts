/** What a charge with a due date comes to, by the examples of the standard and of its keepers. */

import { describe, expect, test } from 'bun:test'
import { formatCents } from '#codecs/iso20022'
import { dayAt, isDay } from '#src/platform/runtime/index.ts'
import { duesOn, lastDayOf } from '../../src/pix/due/arithmetic.ts'
import { createCalendar } from '../../src/pix/due/calendar.ts'
import type { DueTerms } from '../../src/pix/due/domain.ts'
import { centsOf } from '../../src/pix/money.ts'
import { createHolidayBook } from '../../src/reference/holidays/domain.ts'

const calendar = createCalendar(createHolidayBook([]).isHoliday)
const { isWorkingDay, nextWorkingDay } = calendar

const none = { fine: undefined, interest: undefined, rebate: undefined, discount: undefined }
const terms = (dueOn: string, more: Partial<DueTerms> = {}): DueTerms => ({
  dueOn,
  validDays: 30,
  ...none,
  ...more,
})
const finalOn = (original: string, day: string, due: DueTerms): string =>
  formatCents(duesOn(due, centsOf(original), day, calendar).finalCents)

describe('working days', () => {
  test('are those of the country', () => {
    // Carnival, Good Friday, Corpus Christi, All Souls, Christmas; a Saturday; 20 November before and after its law.
    for (const day of ['2026-02-16', '2026-02-17', '2026-04-03', '2026-06-04', '2026-11-02']) {
      expect([day, isWorkingDay(day)]).toEqual([day, false])
    }
    expect(isWorkingDay('2023-11-20')).toBe(true)
    expect(isWorkingDay('2024-11-20')).toBe(false)
    expect(isWorkingDay('2026-02-18')).toBe(true)
    expect(nextWorkingDay('2026-12-31')).toBe('2026-12-31')
    expect(nextWorkingDay('2027-01-01')).toBe('2027-01-04')
  })

  test('follow the list that holds', () => {
    const book = createHolidayBook([{ day: '2026-03-09', name: 'Dia extraordinário' }])
    const listed = createCalendar(book.isHoliday)
    expect(lastDayOf(terms('2026-03-07', { validDays: 0 }), calendar)).toBe('2026-03-09')
    expect(lastDayOf(terms('2026-03-07', { validDays: 0 }), listed)).toBe('2026-03-10')
    expect(
      [calendar, listed].map((one) => one.workingDaysBetween('2026-03-06', '2026-03-10')),
    ).toEqual([2, 1])
    const due = terms('2026-03-06', { fine: { mode: 2, value: '2.00' } })
    const finals = [calendar, listed].map(
      (one) => duesOn(due, 10_000n, '2026-03-09', one).finalCents,
    )
    expect(finals).toEqual([10_200n, 10_000n])
  })

  test('have Easter where astronomers have it', () => {
    // Good Fridays, two days before it.
    for (const day of ['2000-04-21', '2008-03-21', '2011-04-22', '2038-04-23', '2285-03-20']) {
      expect([day, isWorkingDay(day)]).toEqual([day, false])
    }
  })

  test.each([
    ['2026-01-01T02:59:59.999Z', '2025-12-31'],
    ['2026-01-01T03:00:00.000Z', '2026-01-01'],
    // The last summer time ended on 2019-02-17.
    ['2019-01-01T01:59:59.999Z', '2018-12-31'],
    ['2019-01-01T02:00:00.000Z', '2019-01-01'],
    ['2019-02-17T02:59:59.999Z', '2019-02-16'],
    ['2019-02-17T03:00:00.000Z', '2019-02-17'],
    ['2019-12-01T02:30:00.000Z', '2019-11-30'],
  ])('at %s it is %s in São Paulo', (instant, day) => {
    expect(dayAt(new Date(instant))).toBe(day)
  })

  test('are days that there are', () => {
    expect(['2024-02-29', '2023-02-29', '2024-13-01', '24-01-01'].map(isDay)).toEqual([
      true,
      false,
      false,
      false,
    ])
  })
})

describe('the last day', () => {
  // Examples of validadeAposVencimento in the official description.
  test.each([
    ['2020-10-20', 4, '2020-10-26'],
    ['2020-12-25', 0, '2020-12-28'],
    ['2020-12-25', 1, '2020-12-29'],
    ['2020-12-25', 3, '2020-12-31'],
    ['2020-12-25', 4, '2021-01-04'],
  ])('of a charge due on %s with %i days is %s', (dueOn, validDays, last) => {
    expect(lastDayOf(terms(dueOn, { validDays }), calendar)).toBe(last)
  })
})

describe('what is owed', () => {
  const fine = { mode: 2, value: '3.00' }
  const daily = { mode: 2, value: '1.00' }
  const steps = [
    { until: '2026-11-20', value: '20.00' },
    { until: '2026-11-25', value: '10.00' },
  ]
  const discounted = terms('2026-11-30', { discount: { mode: 1, steps } })
  const part = (mode: number, value: string) => ({ mode, value })

  test.each([
    ['100.00', '2026-03-04', terms('2026-03-02', { fine, interest: daily }), '105.00'],
    ['10.00', '2021-03-01', terms('2021-02-27', { interest: part(1, '0.10') }), '10.00'],
    ['10.00', '2021-03-02', terms('2021-02-27', { interest: part(1, '0.10') }), '10.10'],
    // Half up.
    ['10.00', '2026-03-02', terms('2026-03-02', { rebate: part(2, '0.05') }), '9.99'],
    // Never the factor.
    ['30000.00', '2026-03-03', terms('2026-03-02', { interest: part(3, '1.00') }), '30010.00'],
    ['200.00', '2026-11-20', discounted, '180.00'],
    ['200.00', '2026-11-21', discounted, '190.00'],
    ['200.00', '2026-11-26', discounted, '200.00'],
    [
      ...['200.00', '2026-12-02'],
      { ...discounted, fine: part(2, '2.00'), interest: part(2, '0.50') },
      '206.00',
    ],
    // Due on a Friday: on Saturday and Sunday nothing is added, on Monday three days.
    ['100.00', '2026-03-07', terms('2026-03-06', { fine, interest: daily }), '100.00'],
    ['100.00', '2026-03-08', terms('2026-03-06', { fine, interest: daily }), '100.00'],
    ['100.00', '2026-03-09', terms('2026-03-06', { fine, interest: daily }), '106.00'],
    ['100.00', '2026-03-09', terms('2026-03-06', { interest: part(5, '0.10') }), '100.10'],
    ['100.00', '2026-03-10', terms('2026-03-06', { interest: part(6, '1.00') }), '102.00'],
    ['100.00', '2026-03-09', terms('2026-03-06', { interest: part(7, '21.00') }), '101.00'],
    ['100.00', '2026-03-09', terms('2026-03-06', { interest: part(8, '252.00') }), '101.00'],
    ['365.00', '2026-03-09', terms('2026-03-06', { interest: part(4, '1.00') }), '365.03'],
    ['100.00', '2026-03-03', terms('2026-03-06', { discount: part(3, '1.00') }), '97.00'],
    ['100.00', '2026-02-27', terms('2026-03-06', { discount: part(4, '1.00') }), '95.00'],
    ['100.00', '2026-03-03', terms('2026-03-06', { discount: part(5, '2.00') }), '94.00'],
    ['100.00', '2026-02-27', terms('2026-03-06', { discount: part(6, '2.00') }), '90.00'],
    // A discount until the due date is put off with it; a percentage is of what the rebate leaves.
    [
      ...['100.00', '2026-03-09'],
      terms('2026-03-07', {
        rebate: part(1, '50.00'),
        discount: { mode: 2, steps: [{ until: '2026-03-07', value: '10.00' }] },
      }),
      '45.00',
    ],
  ] as const)('of %s on %s is %j %s', (original, day, due, final) => {
    expect(finalOn(original, day, due)).toBe(final)
  })
})
