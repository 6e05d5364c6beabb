import { randomInt } from 'node:crypto'
import type { Person } from '../charges/domain.ts'
import { type Day, dayAt } from '../due/calendar.ts'

export type RecurrenceStatus = 'CRIADA' | 'APROVADA' | 'REJEITADA' | 'EXPIRADA' | 'CANCELADA'

/** Those of which nothing more becomes. */
export const endedStatuses: ReadonlySet<RecurrenceStatus> = new Set([
  ...(['REJEITADA', 'EXPIRADA', 'CANCELADA'] as const),
])

export const periods = ['SEMANAL', 'MENSAL', 'TRIMESTRAL', 'SEMESTRAL', 'ANUAL'] as const

/** NAO_PERMITE, or three tries more within seven days. */
export const retryPolicies = ['NAO_PERMITE', 'PERMITE_3R_7D'] as const

/** What a receiver says of a recurrence. Amounts are as the standard writes them. */
export type RecurrenceTerms = {
  /** Number of what was agreed. */
  readonly contract: string
  readonly object?: string | undefined
  readonly debtor: Person
  readonly startsOn: Day
  readonly endsOn?: Day | undefined
  readonly period: (typeof periods)[number]
  /** Every charge is of it. */
  readonly amount?: string | undefined
  /** The payer's limit may not be less. */
  readonly minimum?: string | undefined
  readonly retries: (typeof retryPolicies)[number]
  /** Of the immediate charge whose payment begins the recurrence, if one does. */
  readonly firstTxid?: string | undefined
}

export type Recurrence = {
  /** idRec. */
  readonly id: string
  readonly account: string
  /** CNPJ of the receiver. */
  readonly taxId: string
  readonly receiverName: string
  /** `convenio`. */
  readonly agreement: string | null
  readonly status: RecurrenceStatus
  readonly terms: RecurrenceTerms
  /** Each status it has had; times are ISO 8601. */
  readonly history: readonly { readonly status: RecurrenceStatus; readonly data: string }[]
  readonly location: RecurrenceLocation | undefined
  readonly createdAt: Date
}

export type RecurrenceLocation = {
  readonly id: bigint
  readonly token: string
  /** idRec of what it shows. */
  readonly recurrenceId: string | null
  readonly createdAt: Date
}

const digits = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const serialChars = 11

/** Such as `RR1234567820240115abcdefghijk`: R, R or N for retries, ISPB, day of creation, eleven random characters. */
export const freshRecurrenceId = (
  ispb: string,
  retries: RecurrenceTerms['retries'],
  now: Date,
): string => {
  const serial = Array.from({ length: serialChars }, () => digits[randomInt(digits.length)])
  const kind = retries === 'NAO_PERMITE' ? 'RN' : 'RR'
  return `${kind}${ispb}${dayAt(now).replaceAll('-', '')}${serial.join('')}`
}
