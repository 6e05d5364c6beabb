import type { Client } from '#src/platform/database/index.ts'
import type { Kind, State } from './domain.ts'
import { findRecurrence, listRecurrences } from './store.ts'

export type Recurrence = {
  readonly key: string
  readonly state: State | null
  readonly mandateId: string | null
  readonly reconciliationId: string | null
  readonly terms: Readonly<Record<string, string | boolean | null>> | null
  readonly createdBy: string
  /** When it became what it is. */
  readonly changedAt: Date | null
}

export type RecurrenceStep = {
  readonly at: Date
  readonly messageId: string
  readonly type: string
  readonly direction: 'INBOUND' | 'OUTBOUND'
  /** Null when the message is not kept any more. */
  readonly messageStatus: string | null
  readonly requestId: string | null
  readonly status: string | null
  readonly reason: string | null
  readonly state: State | null
}

export type RecurrenceFilter = {
  readonly state?: string | undefined
  readonly mandateId?: string | undefined
}

export type RecurrencePage = {
  readonly limit: number
  /** `createdBy` and key of the last one of the page before. */
  readonly after: readonly [createdBy: string, key: string] | undefined
}

export type FoundRecurrence = {
  readonly recurrence: Recurrence
  readonly steps: readonly RecurrenceStep[]
}

export type RecurringService = ReturnType<typeof createRecurringService>

export const createRecurringService = (sql: Client) => ({
  /** Newest first. */
  list: (kind: Kind, filter: RecurrenceFilter, page: RecurrencePage) =>
    listRecurrences(sql, kind, filter, page),
  find: (kind: Kind, key: string) => findRecurrence(sql, kind, key),
})
