import { addDays, dayAt, isDay, momentAt, startOfDay } from '#src/platform/runtime/days.ts'

/** The day in a text; an address that a person typed may hold none. */
export const dayIn = (text: string | null): string | undefined =>
  text !== null && isDay(text) ? text : undefined

/** The day so many days ago. */
export const daysAgo = (days: number): string => addDays(dayAt(Date.now()), -days)

/** The first moment of the day, as the API takes it. */
export const dayStart = (day: string): string => startOfDay(day).toISOString()

/** The time of a field for day and time as the API takes it, in the zone of all times shown. */
export const instantOf = (time: string): string => momentAt(time).toISOString()

/** The first moment after the day. */
export const dayEnd = (day: string): string => dayStart(addDays(day, 1))
