import type { Day } from '#src/platform/runtime/days.ts'

const yearsMax = 10

/** Why a day is too far away to count from; undefined: it is not. */
export const objectionToFar = (day: Day, said: Day): string | undefined =>
  Number(day.slice(0, 4)) > Number(said.slice(0, 4)) + yearsMax
    ? `A data está a mais de ${yearsMax} anos.`
    : undefined

/** A fine, interest or rebate: how it is counted, and an amount or a percentage with two decimals. */
export type Part = { readonly mode: number; readonly value: string }

type Discount = {
  /** 1, 2: amount or percentage until a day; 3 to 6: for each day that it is paid early. */
  readonly mode: number
  readonly steps?: readonly { readonly until: Day; readonly value: string }[] | undefined
  readonly value?: string | undefined
}

/** What a charge with a due date (`cobv`) has beside every charge. */
export type DueTerms = {
  readonly dueOn: Day
  /** Calendar days after the due date on which it may be paid. */
  readonly validDays: number
  readonly fine: Part | undefined
  readonly interest: Part | undefined
  readonly rebate: Part | undefined
  readonly discount: Discount | undefined
}
