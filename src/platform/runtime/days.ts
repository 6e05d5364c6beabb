/** Days of Brazil, as `YYYY-MM-DD`: those of São Paulo, which the central bank counts by. */

export type Day = string

export const dayMs = 86_400_000
const hourMs = 3_600_000

/** Days since 1970-01-01. */
const numberOf = (day: Day): number => Date.parse(`${day}T00:00:00Z`) / dayMs

const dayOf = (number: number): Day => new Date(number * dayMs).toISOString().slice(0, 10)

/** Whether a text names a day that exists. */
export const isDay = (text: string): boolean =>
  /^\d{4}-\d\d-\d\d$/.test(text) && !Number.isNaN(numberOf(text)) && dayOf(numberOf(text)) === text

export const addDays = (day: Day, days: number): Day => dayOf(numberOf(day) + days)

/** Calendar days from one day to another. */
export const daysBetween = (from: Day, to: Day): number => numberOf(to) - numberOf(from)

/** 0 is Sunday. */
export const weekdayOf = (day: Day): number => new Date(numberOf(day) * dayMs).getUTCDay()

/** Made when first needed: that takes milliseconds, which a start has no use for. */
let inBrazil: Intl.DateTimeFormat | undefined

/** The day that it is in Brazil at a moment, by the rules of summer time that held then. */
export const dayAt = (moment: Date | number): Day => {
  inBrazil ??= new Intl.DateTimeFormat('en-CA', {
    timeZone: 'America/Sao_Paulo',
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
  })
  return inBrazil.format(moment)
}

let clockInBrazil: Intl.DateTimeFormat | undefined

/** The day and time that it is in Brazil at a moment, `2026-01-31 10:00:00`. */
const clockAt = (moment: Date): string => {
  // Sweden writes them so.
  clockInBrazil ??= new Intl.DateTimeFormat('sv-SE', {
    timeZone: 'America/Sao_Paulo',
    dateStyle: 'short',
    timeStyle: 'medium',
  })
  return clockInBrazil.format(moment)
}

/**
 * When a clock of Brazil shows a day and time: three hours after one of UTC; two where summer time held, until 2019.
 *
 * @param time `2026-01-31T10:00`, with seconds or without
 */
export const momentAt = (time: string): Date => {
  const shown = `${time.replace('T', ' ')}:00`.slice(0, 19)
  const early = new Date(Date.parse(`${time}Z`) + 2 * hourMs)
  return clockAt(early) === shown ? early : new Date(early.getTime() + hourMs)
}

/** When a day of Brazil begins. */
export const startOfDay = (day: Day): Date => momentAt(`${day}T00:00`)
