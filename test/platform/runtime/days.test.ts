import { expect, test } from 'bun:test'
import fc from 'fast-check'
import {
  addDays,
  dayAt,
  dayMs,
  daysBetween,
  isDay,
  momentAt,
  startOfDay,
  weekdayOf,
} from '#src/platform/runtime/index.ts'

test('a day of Brazil begins three hours after that of UTC, two where summer time held', () => {
  expect(startOfDay('2026-11-26').toISOString()).toBe('2026-11-26T03:00:00.000Z')
  expect(startOfDay('2018-12-01').toISOString()).toBe('2018-12-01T02:00:00.000Z')
  // The clocks went from midnight to one o'clock: the day had 23 hours.
  expect(startOfDay('2018-11-04').toISOString()).toBe('2018-11-04T03:00:00.000Z')
  expect(dayAt(new Date('2026-11-26T02:59:59.999Z'))).toBe('2026-11-25')
  expect(dayAt(Date.parse('2026-11-26T03:00:00Z'))).toBe('2026-11-26')
})

test('a clock of Brazil shows a time three hours after one of UTC, two where summer time held', () => {
  expect(momentAt('2026-11-26T10:00').toISOString()).toBe('2026-11-26T13:00:00.000Z')
  expect(momentAt('2026-11-26T23:59:58').toISOString()).toBe('2026-11-27T02:59:58.000Z')
  expect(momentAt('2018-11-03T23:59:59').toISOString()).toBe('2018-11-04T02:59:59.000Z')
  expect(momentAt('2018-11-04T01:00').toISOString()).toBe('2018-11-04T03:00:00.000Z')
  expect(momentAt('2018-12-01T10:00').toISOString()).toBe('2018-12-01T12:00:00.000Z')
})

test('a day is the day of its first moment, and not of the moment before', () => {
  const days = fc.integer({ min: 0, max: 40_000 }).map((number) => addDays('1990-01-01', number))
  fc.assert(
    fc.property(days, (day) => {
      expect(dayAt(startOfDay(day))).toBe(day)
      expect(dayAt(startOfDay(day).getTime() - 1)).toBe(addDays(day, -1))
      expect(daysBetween(addDays(day, -31), day)).toBe(31)
    }),
    { numRuns: 200 },
  )
})

test('days that are none', () => {
  expect(isDay('2028-02-29')).toBe(true)
  for (const text of [
    '2026-02-29',
    '2026-13-01',
    '2026-1-1',
    '',
    'today',
    '2026-04-31',
    ' 2026-04-30',
  ]) {
    expect(isDay(text)).toBe(false)
  }
  expect(addDays('2026-12-31', 1)).toBe('2027-01-01')
  expect(weekdayOf('2026-11-26')).toBe(4)
  expect(dayMs).toBe(86_400_000)
})
