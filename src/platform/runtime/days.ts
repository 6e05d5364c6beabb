/** Days of Brazil, as `YYYY-MM-DD`: those of São Paulo, which the central bank counts by. */

export type Day = string

export const dayMs = 86_400_000

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

/** When a day of Brazil begins: three hours after that of UTC; two where summer time held, until 2019. */
export const startOfDay = (day: Day): Date => {
  const early = new Date(`${day}T02:00:00Z`)
  return dayAt(early) === day ? early : new Date(`${day}T03:00:00Z`)
}
