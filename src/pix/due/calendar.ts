/** Days of São Paulo, as `YYYY-MM-DD`, and which of them are working days by a list of holidays. */

const dayMs = 86_400_000

export type Day = string

/** Days since 1970-01-01. */
const numberOf = (day: Day): number => Date.parse(`${day}T00:00:00Z`) / dayMs

const dayOf = (number: number): Day => new Date(number * dayMs).toISOString().slice(0, 10)

export const isDay = (text: string): boolean =>
  /^\d{4}-\d\d-\d\d$/.test(text) && !Number.isNaN(numberOf(text)) && dayOf(numberOf(text)) === text

export const addDays = (day: Day, days: number): Day => dayOf(numberOf(day) + days)

/** Calendar days from one day to another. */
export const daysBetween = (from: Day, to: Day): number => numberOf(to) - numberOf(from)

const inSaoPaulo = new Intl.DateTimeFormat('en-CA', {
  timeZone: 'America/Sao_Paulo',
  year: 'numeric',
  month: '2-digit',
  day: '2-digit',
})

/** The day that it is in São Paulo, by the rules of summer time that held then. */
export const dayAt = (instant: Date): Day => inSaoPaulo.format(instant)

export type IsHoliday = (day: Day) => boolean

export type Calendar = {
  /** Neither a weekend nor a holiday of the whole country. */
  readonly isWorkingDay: (day: Day) => boolean
  /** That day, or else the first working day after it. */
  readonly nextWorkingDay: (day: Day) => Day
  /** Working days after one day, up to another. */
  readonly workingDaysBetween: (from: Day, to: Day) => number
}

const saturday = 6

export const createCalendar = (isHoliday: IsHoliday): Calendar => {
  const isWorkingDay = (day: Day): boolean => {
    const weekday = new Date(numberOf(day) * dayMs).getUTCDay()
    return weekday !== 0 && weekday !== saturday && !isHoliday(day)
  }
  return {
    isWorkingDay,
    nextWorkingDay: (day) => {
      let next = day
      while (!isWorkingDay(next)) next = addDays(next, 1)
      return next
    },
    workingDaysBetween: (from, to) => {
      let count = 0
      for (let day = addDays(from, 1); day <= to; day = addDays(day, 1)) {
        if (isWorkingDay(day)) count++
      }
      return count
    },
  }
}
