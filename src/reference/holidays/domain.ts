import { addDays, type Day } from '#src/platform/runtime/days.ts'
import known from './holidays.json' with { type: 'json' }

export type Holiday = { readonly day: Day; readonly name: string }

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
  return `${String(year).padStart(4, '0')}-${String(month).padStart(2, '0')}-${String(day).padStart(2, '0')}`
}

const byDay = (a: Holiday, b: Holiday): number => (a.day < b.day ? -1 : 1)

/** The holidays of a year by the laws, in order. */
export const lawfulHolidays = (year: number): readonly Holiday[] => {
  const sunday = easter(year)
  const fixed = known.yearly
    .filter(({ sinceYear = 0 }) => year >= sinceYear)
    .map(({ date, name }) => ({ day: `${sunday.slice(0, 4)}-${date}`, name }))
  const movable = known.fromEaster.map(({ days, name }) => ({ day: addDays(sunday, days), name }))
  return [...fixed, ...movable].toSorted(byDay)
}

export const lawfulSource = { source: known.source, asOf: known.asOf }

/** Holidays of every year: as the list has them for the years that it names, by the laws for all others. */
export type HolidayBook = {
  readonly isHoliday: (day: Day) => boolean
  readonly ofYear: (year: number) => {
    readonly isListed: boolean
    readonly holidays: readonly Holiday[]
  }
}

export const createHolidayBook = (listed: readonly Holiday[]): HolidayBook => {
  const given = Map.groupBy(listed, ({ day }) => Number(day.slice(0, 4)))
  const days = new Map<number, ReadonlySet<Day>>()
  const ofYear = (year: number) => {
    const list = given.get(year)
    if (list === undefined) return { isListed: false, holidays: lawfulHolidays(year) }
    return { isListed: true, holidays: list.toSorted(byDay) }
  }
  return {
    ofYear,
    isHoliday: (day) => {
      const year = Number(day.slice(0, 4))
      let set = days.get(year)
      if (set === undefined) {
        set = new Set(ofYear(year).holidays.map((one) => one.day))
        days.set(year, set)
      }
      return set.has(day)
    },
  }
}
