/** Days of São Paulo, as `YYYY-MM-DD`, and which of them are working days. */

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

/** Laws 662/1949, 6.802/1980 and 10.607/2002. */
const fixed = ['01-01', '04-21', '05-01', '09-07', '10-12', '11-02', '11-15', '12-25']
/** Law 14.759/2023. */
const consciousnessDay = '11-20'
const consciousnessFrom = 2024
/** Days from Easter: carnival, Good Friday, Corpus Christi, on which banks do not work (CMN 4.880/2020). */
const movable = [-48, -47, -2, 60]

/** Easter of the Gregorian calendar, after Meeus, Jones and Butcher. */
const easter = (year: number): Day => {
  const golden = year % 19
  const century = Math.floor(year / 100)
  const rest = year % 100
  const skipped = Math.floor((8 * century + 13) / 25)
  const epact = (19 * golden + century - Math.floor(century / 4) - skipped + 15) % 30
  const weekday = (32 + 2 * (century % 4) + 2 * Math.floor(rest / 4) - epact - (rest % 4)) % 7
  const late = Math.floor((golden + 11 * epact + 22 * weekday) / 451)
  const sum = epact + weekday - 7 * late + 114
  const [month, day] = [Math.floor(sum / 31), (sum % 31) + 1]
  return `${year}-${String(month).padStart(2, '0')}-${String(day).padStart(2, '0')}`
}

const holidays = new Map<number, ReadonlySet<Day>>()

const holidaysOf = (year: number): ReadonlySet<Day> => {
  const known = holidays.get(year)
  if (known !== undefined) return known
  const days = year >= consciousnessFrom ? [...fixed, consciousnessDay] : fixed
  const sunday = easter(year)
  const all = new Set([
    ...days.map((day) => `${year}-${day}`),
    ...movable.map((offset) => addDays(sunday, offset)),
  ])
  holidays.set(year, all)
  return all
}

const saturday = 6

/** Neither a weekend nor a holiday of the whole country. */
export const isWorkingDay = (day: Day): boolean => {
  const weekday = new Date(numberOf(day) * dayMs).getUTCDay()
  return weekday !== 0 && weekday !== saturday && !holidaysOf(Number(day.slice(0, 4))).has(day)
}

/** That day, or else the first working day after it. */
export const nextWorkingDay = (day: Day): Day =>
  isWorkingDay(day) ? day : nextWorkingDay(addDays(day, 1))

/** Working days after one day, up to another. */
export const workingDaysBetween = (from: Day, to: Day): number => {
  let count = 0
  for (let day = addDays(from, 1); day <= to; day = addDays(day, 1)) {
    if (isWorkingDay(day)) count++
  }
  return count
}
