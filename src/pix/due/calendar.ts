/** Which days are working days, by a list of holidays. */
import { addDays, type Day, weekdayOf } from '#src/platform/runtime/index.ts'

export type IsHoliday = (day: Day) => boolean

export type Calendar = ReturnType<typeof createCalendar>

const saturday = 6

export const createCalendar = (isHoliday: IsHoliday) => {
  /** Neither a weekend nor a holiday of the whole country. */
  const isWorkingDay = (day: Day): boolean => {
    const weekday = weekdayOf(day)
    return weekday !== 0 && weekday !== saturday && !isHoliday(day)
  }
  return {
    isWorkingDay,
    /** That day, or else the first working day after it. */
    nextWorkingDay: (day: Day): Day => {
      let next = day
      while (!isWorkingDay(next)) next = addDays(next, 1)
      return next
    },
    /** Working days after one day, up to another. */
    workingDaysBetween: (from: Day, to: Day): number => {
      let count = 0
      for (let day = addDays(from, 1); day <= to; day = addDays(day, 1)) {
        if (isWorkingDay(day)) count++
      }
      return count
    },
  }
}
