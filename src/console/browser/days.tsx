import { addDays, dayAt, isDay, momentAt, startOfDay } from '#src/platform/runtime/days.ts'

/** A day that somebody wrote into the address by hand may be none. */
export const dayIn = (text: string | null): string | undefined =>
  text !== null && isDay(text) ? text : undefined

/** The day that it was so many days ago. */
export const daysAgo = (days: number): string => addDays(dayAt(Date.now()), -days)

/** As the API takes it. */
export const dayStart = (day: string): string => startOfDay(day).toISOString()

/** As the API takes it, of what a field for day and time has: in the zone that all times are shown in. */
export const instantOf = (time: string): string => momentAt(time).toISOString()

/** The first moment that is no more of the day. */
export const dayEnd = (day: string): string => dayStart(addDays(day, 1))
