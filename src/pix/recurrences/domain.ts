import { randomInt } from 'node:crypto'
import { type Day, dayAt } from '#src/platform/runtime/days.ts'
import type { Person } from '../charges/domain.ts'

export const recurrenceStatuses = [
  'CRIADA',
  'APROVADA',
  'REJEITADA',
  'EXPIRADA',
  'CANCELADA',
] as const

export type RecurrenceStatus = (typeof recurrenceStatuses)[number]

/** Statuses after which nothing more happens. */
export const endedStatuses: ReadonlySet<RecurrenceStatus> = new Set([
  'REJEITADA',
  'EXPIRADA',
  'CANCELADA',
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
  /** The txid of the immediate charge whose payment begins the recurrence, if one does. */
  readonly firstTxid?: string | undefined
}

/** The payer, as his institution named him when he authorised it. */
export type Payer = {
  /** CPF or CNPJ. */
  readonly taxId: string
  readonly ispb: string
  readonly account: string
  readonly branch: string | null
  /** IBGE code of his town, whose working days count. */
  readonly town: string | null
  /** He has authorised it, and waits for us to see its first charge paid: the id to answer, and since when. */
  readonly waiting?: { readonly reference: string | null; readonly since: string } | undefined
}

/** How the payer came to authorise it. */
export const journeys = {
  AUT1: 'JORNADA_1',
  AUT2: 'JORNADA_2',
  AUT3: 'JORNADA_3',
  AUT4: 'JORNADA_4',
} as const

export type Journey = (typeof journeys)[keyof typeof journeys]

/** `encerramento`, as the standard writes it. */
export type Ending = {
  readonly rejeicao?: { readonly codigo: string; readonly descricao: string }
  readonly cancelamento?: {
    readonly solicitante: string
    readonly codigo: string
    readonly descricao: string
  }
}

export const cancelledByReceiver: Ending = {
  cancelamento: {
    solicitante: 'USUARIO_RECEBEDOR',
    codigo: 'SLCR',
    descricao: 'Cancelamento solicitado pelo usuário recebedor',
  },
}

/** A status and since when; times are ISO 8601. */
export type Step<Status extends string> = { readonly status: Status; readonly data: string }

/** The same with another status, which its history tells from now on. */
export const movedTo = <
  T extends { readonly status: string; readonly history: readonly Step<string>[] },
>(
  one: T,
  status: T['status'],
  at: Date,
): T => ({ ...one, status, history: [...one.history, { status, data: at.toISOString() }] })

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
  readonly history: readonly Step<RecurrenceStatus>[]
  readonly payer: Payer | null
  /** Null: nobody has authorised it. */
  readonly journey: Journey | null
  readonly ending: Ending | null
  readonly location: RecurrenceLocation | undefined
  readonly createdAt: Date
}

/** Whether its last day is past, whenever it becomes EXPIRADA. */
export const isOutlived = ({ terms: { endsOn } }: Recurrence, at: Date): boolean =>
  endsOn !== undefined && endsOn < dayAt(at)

export type RecurrenceLocation = {
  readonly id: bigint
  readonly token: string
  /** idRec of what it shows. */
  readonly recurrenceId: string | null
  readonly createdAt: Date
}

const digits = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const serialChars = 11

/** An id such as `RR1234567820240115abcdefghijk`: two letters, ISPB, day of creation, eleven random characters. */
export const freshDatedId = (letters: string, ispb: string, now: Date): string => {
  const serial = Array.from({ length: serialChars }, () => digits[randomInt(digits.length)])
  return `${letters}${ispb}${dayAt(now).replaceAll('-', '')}${serial.join('')}`
}

/** It begins with RR where the payer may be charged again, else with RN. */
export const freshRecurrenceId = (
  ispb: string,
  retries: RecurrenceTerms['retries'],
  now: Date,
): string => freshDatedId(retries === 'NAO_PERMITE' ? 'RN' : 'RR', ispb, now)
