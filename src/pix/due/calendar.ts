/** Which days are working days, by a list of holidays. */
import { addDays, type Day, weekdayOf } from '#src/platform/runtime/index.ts'

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
    const weekday = weekdayOf(day)
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
