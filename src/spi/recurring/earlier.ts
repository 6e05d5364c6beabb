import { type Queryable, textArray } from '#src/platform/database/index.ts'
import {
  askingTypes,
  type Event,
  idOf,
  isAsking,
  refusedPosition,
  type State,
  type Stated,
} from './domain.ts'

/** What was said before, which decides what an answer means. */
export type Earlier = {
  /** Null: nothing that counts. */
  readonly meaningOf: (stated: Stated) => Event | null
  /** @param state that it led to; null: it changed nothing */
  readonly note: (stated: Stated, state: State | null) => void
}

export const earlierThan = async (tx: Queryable, stated: readonly Stated[]): Promise<Earlier> => {
  const asks = await asksOf(tx, stated)
  const confirmations = await confirmationsOf(tx, stated)
  return {
    meaningOf: (one) => {
      const id = idOf(one.fact)
      if (answersFormer(one, asks.get(id) ?? [])) return null
      return isOurRefusal(one) ? refusalMeant(one, confirmations.get(id) ?? []) : one.fact.event
    },
    note: (one, state) => {
      const id = idOf(one.fact)
      if (isAsk(one)) asks.set(id, [...(asks.get(id) ?? []), askOf(one)])
      if (one.fact.event !== 'confirmed') return
      const { requestId } = one.fact
      confirmations.set(id, [...(confirmations.get(id) ?? []), { requestId, state }])
    },
  }
}

/** A message that confirms a mandate, from us or to us. */
type Confirmation = {
  readonly requestId: string | null
  readonly state: State | null
}

const isOurRefusal = ({ fact: { type, event }, direction }: Stated): boolean =>
  direction === 'OUTBOUND' && type === 'pain.012' && event === 'refused'

/** What we refuse is a confirmation, which another may stand beside, or what a payer's institution has not confirmed yet. */
const refusalMeant = (
  { fact: { event, mandate } }: Stated,
  confirmations: readonly Confirmation[],
): Event | null => {
  const refused = confirmations.find(
    ({ requestId }) => requestId !== null && requestId === mandate?.reference,
  )
  if (refused === undefined) return event
  const others = confirmations.filter(({ state }) => state === 'confirmed')
  return others.length === 0 || others.includes(refused) ? 'confirmation_refused' : null
}

/** How many of the last confirmations of one mandate we look at, in the order of the messages. */
const confirmationsMax = 100

const confirmationsOf = async (
  tx: Queryable,
  stated: readonly Stated[],
): Promise<Map<string, Confirmation[]>> => {
  const ids = new Set(stated.filter(isOurRefusal).map(({ fact }) => idOf(fact)))
  if (ids.size === 0) return new Map()
  const rows = await tx<(Confirmation & { readonly id: string })[]>`
    select s.* from unnest(${textArray([...ids])}::text::text[]) as wanted(id)
      cross join lateral (
        select recurrence_id as id, request_id as "requestId", state from spi_recurrence_steps
        where recurrence_id = wanted.id and type = 'pain.012' and status = 'CFDB'
        order by recurrence_id, message_id desc limit ${confirmationsMax}
      ) s`
  return Map.groupBy(rows, ({ id }) => id)
}

/** What we asked for by one message: that a mandate or charge be, or be cancelled. */
type Ask = {
  readonly type: string
  readonly messageId: string
  readonly requestId: string | null
}

const askOf = ({ fact: { type, requestId }, messageId }: Stated): Ask => ({
  type,
  messageId,
  requestId,
})

const isAsk = ({ fact, direction }: Stated): boolean =>
  direction === 'OUTBOUND' && isAsking(fact.type) && fact.position < refusedPosition

/** Events that may refuse a request, or confirm its cancellation. */
const endings: ReadonlySet<Event | null> = new Set([
  ...(['refused', 'cancellation_refused', 'unnamed_refused', 'cancelled'] as const),
])

/** Whether it ends what we asked for before we asked anew, which it says nothing of. */
const answersFormer = ({ fact, messageId, direction }: Stated, asked: readonly Ask[]): boolean => {
  if (!endings.has(fact.event)) return false
  const named = fact.mandate === undefined ? fact.requestId : fact.mandate.reference
  const isMeant = (ask: Ask): boolean =>
    direction === 'OUTBOUND'
      ? ask.messageId === messageId
      : named !== null && ask.requestId === named
  const last = asked.findLastIndex(({ type }) => type === 'pain.009' || type === 'pain.013')
  const at = asked.findLastIndex(isMeant)
  return at !== -1 && at < last
}

/** How many of our last requests about one mandate or charge we look at, in the order of the messages. */
const asksMax = 100

/** Our earlier requests about mandates and charges that something may end now. */
const asksOf = async (tx: Queryable, stated: readonly Stated[]): Promise<Map<string, Ask[]>> => {
  const ids = new Set(stated.flatMap(({ fact }) => (endings.has(fact.event) ? [idOf(fact)] : [])))
  if (ids.size === 0) return new Map()
  const rows = await tx<(Ask & { readonly id: string })[]>`
    select s.* from unnest(${textArray([...ids])}::text::text[]) as wanted(id)
      cross join lateral (
        select recurrence_id as id, type, message_id as "messageId", request_id as "requestId"
        from spi_recurrence_steps
        where recurrence_id = wanted.id and direction = 'OUTBOUND' and position < ${refusedPosition}
          and type = any(${textArray(askingTypes)}::text::text[])
        order by message_id desc limit ${asksMax}
      ) s
    order by s."messageId"`
  return Map.groupBy(rows, ({ id }) => id)
}
