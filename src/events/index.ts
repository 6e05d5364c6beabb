import type { PendingQuery, Row } from 'postgres'
import type { z } from 'zod'
import type { Queryable } from '#src/platform/database/index.ts'
import { cardEvents } from './cards.ts'
import { directoryEvents } from './directory.ts'
import { digitalCurrencyEvents } from './drex.ts'
import type { EventGroups } from './group.ts'
import { instantPaymentEvents } from './instant-payments.ts'
import { pixEvents } from './pix.ts'
import { webhookEvents } from './webhooks.ts'

export { claimRoles, claimStatuses, disputeRoles, disputeStatuses } from './directory.ts'
export { type Reason, reason } from './instant-payments.ts'

/**
 * Every event that subscribers are told of: its types with their meanings, and what they carry. Whatever lists event
 * types derives from this table; features emit through {@link Emit}, so that no other type and no other payload
 * compiles. A payload holds identifiers, amounts and states: nothing of persons, no card data.
 */
export const eventGroups = {
  ...instantPaymentEvents,
  ...pixEvents,
  ...directoryEvents,
  ...cardEvents,
  ...digitalCurrencyEvents,
  ...webhookEvents,
} as const satisfies EventGroups

type Groups = typeof eventGroups

/**
 * Something that happened.
 *
 * @property account - whose it is: the endpoints of no other account are told; undefined for what is the institution's
 * @property subject - what it happened to; `sequence` grows by one with each event of a subject
 * @property full - what endpoints that ask for it get instead of `data`, persons' data too
 * @property topic - the endpoint of this topic is told too, and gets `full` as it is
 */
export type AppEvent = {
  [G in keyof Groups]: {
    readonly type: keyof Groups[G]['types']
    readonly subject: string
    readonly account?: string | undefined
    readonly data: z.infer<Groups[G]['payload']>
    readonly full?: object
    readonly topic?: string | undefined
  }
}[keyof Groups]

export type EventType = AppEvent['type']

export const eventTypes = Object.values(eventGroups).flatMap(({ types }) =>
  Object.keys(types),
) as readonly EventType[]

/** Writes events in the transaction of the change that they tell of. */
export type Emit = (tx: Queryable, events: readonly AppEvent[]) => Promise<void>

type Fragment = PendingQuery<Row[]>

/** {@link Emit} within the very statement that makes the change, where a statement more would cost too much. */
export type EmitWithin = {
  /** Whether anybody takes one of them; asked first, as planning what `ctes` adds costs as much as the statement. */
  readonly isTaken: (
    sql: Queryable,
    events: readonly Pick<AppEvent, 'type' | 'topic'>[],
  ) => Promise<boolean>
  /**
   * A condition: nobody takes any of them. For a statement that changes nothing where it does not hold, instead of a
   * question before it. Undefined if somebody did when we last looked: then `ctes` decides.
   */
  readonly unlessTaken: (
    sql: Queryable,
    events: readonly Pick<AppEvent, 'type' | 'topic'>[],
  ) => Fragment | undefined
  /** Is told which types somebody takes, of the events of a statement: a hint for the next one. */
  readonly learned: (
    events: readonly { readonly type: string }[],
    taken: ReadonlySet<string>,
  ) => void
  /** What the statement takes of an event, as JSON. */
  readonly rowOf: (event: AppEvent) => object
  /** CTEs, parted by commas, for a `with`. @param rows a query of one JSON value an event: what `rowOf` gave */
  readonly ctes: (sql: Queryable, rows: Fragment) => Fragment
  /** Beside them the types that somebody takes, as one text with blanks between; a value. */
  readonly taken: (sql: Queryable) => Fragment
  /** Where somebody takes any, so that it is sent soon: acts once this has committed. */
  readonly tell: (sql: Queryable) => void
}
