/** Business days as `YYYY-MM-DD`; pure. */

import { dayMs } from '#src/platform/runtime/index.ts'

const minuteMs = 60_000
const halfYearMs = 183 * dayMs

/** When the days of a network end by our clock. */
export type CutOver = {
  /** Minutes after midnight at the network's place. */
  readonly minutes: number
  /** Minutes east of GMT. */
  readonly offsetMinutes: number
}

/**
 * The minutes from a moment to one whose UTC date is its business day. That begins at the cut-over, and has the date at
 * which it ends: with a cut-over at 22:00 what happens at 22:30 on the 5th belongs to the 6th; with one at midnight a
 * business day is a day.
 */
export const shiftOf = ({ minutes, offsetMinutes }: CutOver): number =>
  offsetMinutes + (minutes === 0 ? 0 : dayMs / minuteMs - minutes)

/** The business day of a moment. */
export const dayAt = (at: Date, cutOver: CutOver): string =>
  new Date(at.getTime() + shiftOf(cutOver) * minuteMs).toISOString().slice(0, 10)

/** The day of DE 15, MMDD, that is nearest to the moment; undefined if it is none. */
export const settlementDay = (text: string | undefined, at: Date): string | undefined => {
  if (text === undefined || !/^\d{4}$/.test(text)) return undefined
  const year = at.getUTCFullYear()
  const days = [year - 1, year, year + 1].map(
    (one) => `${one}-${text.slice(0, 2)}-${text.slice(2)}`,
  )
  return days.find((day) => {
    const ms = Date.parse(`${day}T00:00:00Z`)
    // Not every date is in every year.
    const isDate = !Number.isNaN(ms) && new Date(ms).toISOString().startsWith(day)
    return isDate && Math.abs(ms - at.getTime()) <= halfYearMs
  })
}

/** DE 15 of a day. */
export const settlementDateOf = (day: string): string => day.slice(5, 7) + day.slice(8, 10)
