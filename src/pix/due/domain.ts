import type { Day } from '#src/platform/runtime/days.ts'

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
