import { addDays, type Day, daysBetween } from '#src/platform/runtime/index.ts'
import { centsOf } from '../money.ts'
import type { Calendar } from './calendar.ts'
import type { DueTerms, Part } from './domain.ts'

/** What a charge with a due date comes to on a day: every part, and the whole. */
export type Dues = {
  readonly rebateCents: bigint
  readonly discountCents: bigint
  readonly interestCents: bigint
  readonly fineCents: bigint
  readonly finalCents: bigint
}

/** Exact until here; half a centavo counts as one. */
const rounded = (numerator: bigint, denominator: bigint): bigint =>
  (2n * numerator + denominator) / (2n * denominator)

/** Percents have two decimals. */
const wholePercent = 10_000n

const percentOf = (cents: bigint, percent: string, days = 1n, perDays = 1n): bigint =>
  rounded(cents * centsOf(percent) * days, wholePercent * perDays)

/** The last day on which a charge may be paid. */
export const lastDayOf = (
  { dueOn, validDays }: DueTerms,
  { nextWorkingDay }: Pick<Calendar, 'nextWorkingDay'>,
): Day => nextWorkingDay(addDays(nextWorkingDay(dueOn), validDays))

/** Days for which a rate holds: calendar days of a month and a year, then working days of them. */
const rateDays: Readonly<Record<number, bigint>> = {
  2: 1n,
  3: 30n,
  4: 365n,
  6: 1n,
  7: 21n,
  8: 252n,
}

const firstWorkingMode = 5

/** Days from one to the other, by the calendar or working days of it. */
const countedDays = (calendar: Calendar, isWorking: boolean, from: Day, to: Day): bigint =>
  BigInt(isWorking ? calendar.workingDaysBetween(from, to) : daysBetween(from, to))

/** The due date, put off to a working day, the day of the payment, and what counts the days between. */
type Span = { readonly due: Day; readonly day: Day; readonly calendar: Calendar }

const interestOf = ({ mode, value }: Part, base: bigint, { due, day, calendar }: Span): bigint => {
  const late = countedDays(calendar, mode >= firstWorkingMode, due, day)
  const perDays = rateDays[mode]
  return perDays === undefined ? centsOf(value) * late : percentOf(base, value, late, perDays)
}

const discountOf = (
  { dueOn, discount }: DueTerms,
  base: bigint,
  { due, day, calendar }: Span,
): bigint => {
  if (discount === undefined) return 0n
  const { mode, steps, value = '0.00' } = discount
  if (steps !== undefined) {
    // A discount until the due date lasts as long as that is put off.
    const isOpen = ({ until }: { readonly until: Day }) => day <= (until === dueOn ? due : until)
    const [step] = steps.filter(isOpen).toSorted((a, b) => (a.until < b.until ? -1 : 1))
    if (step === undefined) return 0n
    return mode === 1 ? centsOf(step.value) : percentOf(base, step.value)
  }
  if (day >= due) return 0n
  const early = countedDays(calendar, mode === 4 || mode === 6, day, due)
  return mode <= 4 ? centsOf(value) * early : percentOf(base, value, early)
}

/**
 * What is owed on a day. A due date that is no working day is put off to the next one; fine and interest begin with the
 * first working day after it, and interest counts from it.
 */
export const duesOn = (
  terms: DueTerms,
  originalCents: bigint,
  day: Day,
  calendar: Calendar,
): Dues => {
  const { rebate, interest, fine } = terms
  const due = calendar.nextWorkingDay(terms.dueOn)
  const span = { due, day, calendar }
  const amountOf = (part: Part | undefined, of: bigint): bigint => {
    if (part === undefined) return 0n
    return part.mode === 1 ? centsOf(part.value) : percentOf(of, part.value)
  }
  const rebateCents = amountOf(rebate, originalCents)
  const base = originalCents - rebateCents
  const isLate = day >= calendar.nextWorkingDay(addDays(due, 1))
  const interestCents = isLate && interest ? interestOf(interest, base, span) : 0n
  const fineCents = isLate ? amountOf(fine, base) : 0n
  const discountCents = isLate ? 0n : discountOf(terms, base, span)
  const finalCents = base - discountCents + interestCents + fineCents
  return { rebateCents, discountCents, interestCents, fineCents, finalCents }
}
