import { z } from 'zod'
import { type Day, isDay } from '#src/platform/runtime/index.ts'
import { jsonIn, type Line, ListError, linesOf } from '../text.ts'
import { type Holiday, lawfulHolidays } from './domain.ts'

const nameCharsMax = 120
const holidaysMax = 5_000
/** The laws name nine days, and four move with Easter: a list with fewer of a year is part of one. */
const yearDaysMin = 9

/** `dd/mm/yyyy` or `YYYY-MM-DD`; undefined if the cell is neither. */
const dayIn = (cell: string): Day | undefined => {
  const [, date, month, year] = /^(\d{1,2})\/(\d{1,2})\/(\d{4})$/.exec(cell) ?? []
  if (year !== undefined) return `${year}-${month?.padStart(2, '0')}-${date?.padStart(2, '0')}`
  return /^\d{4}-\d\d-\d\d$/.test(cell) ? cell : undefined
}

const items = z.array(
  z
    .object({
      date: z.string().optional(),
      day: z.string().optional(),
      name: z.string().optional(),
      localName: z.string().optional(),
    })
    .transform(({ date, day, name, localName }) => ({
      day: day ?? date ?? '',
      name: localName ?? name ?? '',
    })),
)

/** What stands in the file, not yet judged: where, which day, which name. */
type Found = Holiday & { readonly place: string }

const fromJson = (value: unknown): readonly Found[] => {
  const read = items.safeParse(value)
  if (!read.success) throw new ListError('the JSON must be an array of objects with date and name')
  return read.data.map((one, at) => ({ ...one, place: `item ${at}` }))
}

/** Lines that begin with a day; the others are titles and notes. */
const fromLines = (lines: readonly Line[]): readonly Found[] =>
  lines.flatMap(({ line, cells: [first = '', ...others] }) => {
    const day = dayIn(first)
    if (day !== undefined) return [{ day, name: others.at(-1) ?? '', place: `line ${line}` }]
    if (!/^\d/.test(first)) return []
    throw new ListError(`line ${line}: ${first.slice(0, 20)} is no day as dd/mm/yyyy or YYYY-MM-DD`)
  })

/**
 * Reads holidays of the whole country, one or more whole years: a CSV whose lines begin with the day and end with its
 * name, as ANBIMA publishes it, or a JSON array of objects with `date` and `name`.
 *
 * @throws ListError that names the place
 */
export const readHolidays = (text: string): readonly Holiday[] => {
  const value = jsonIn(text)
  const found = value === undefined ? fromLines(linesOf(text)) : fromJson(value)
  if (found.length === 0) throw new ListError('there is no line that begins with a day')
  if (found.length > holidaysMax) throw new ListError(`there are more than ${holidaysMax} days`)
  const holidays = new Map<Day, Holiday>()
  for (const { day, name, place } of found) {
    if (!/^\d{4}-\d\d-\d\d$/.test(day) || !isDay(day))
      throw new ListError(`${place}: ${day.slice(0, 20)} is no day`)
    if (name === '' || name.length > nameCharsMax) {
      throw new ListError(`${place}: the name must have 1 to ${nameCharsMax} characters`)
    }
    holidays.set(day, { day, name })
  }
  const years = Map.groupBy(holidays.values(), ({ day }) => day.slice(0, 4))
  for (const [year, days] of years) {
    if (days.length < yearDaysMin) {
      throw new ListError(
        `${year} has ${days.length} days: it must be whole, at least ${yearDaysMin}`,
      )
    }
  }
  return [...holidays.values()].toSorted((a, b) => (a.day < b.day ? -1 : 1))
}

/** What a list says otherwise than the laws, in the years that it names. */
export type Differences = {
  readonly added: readonly Holiday[]
  readonly absent: readonly Holiday[]
}

export const differencesOf = (listed: readonly Holiday[]): Differences => {
  const years = [...new Set(listed.map(({ day }) => Number(day.slice(0, 4))))]
  const lawful = years.flatMap(lawfulHolidays)
  const isIn = (all: readonly Holiday[]) => {
    const days = new Set(all.map(({ day }) => day))
    return ({ day }: Holiday) => days.has(day)
  }
  const isLawful = isIn(lawful)
  const isListed = isIn(listed)
  return {
    added: listed.filter((one) => !isLawful(one)),
    absent: lawful.filter((one) => !isListed(one)),
  }
}
