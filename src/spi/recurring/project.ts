import { type CodeList, codeLists } from '#codecs/iso20022'
import type { AppEvent } from '#src/events/index.ts'
import { looksLikeOne, type Queryable, textArray } from '#src/platform/database/index.ts'
import { reasonOf } from '../reasons.ts'
import {
  type Event,
  type Fact,
  type Kind,
  type Standing,
  type State,
  transition,
} from './domain.ts'

/** A fact and the message that states it. */
export type Stated = {
  readonly fact: Fact
  readonly messageId: string
  readonly direction: 'INBOUND' | 'OUTBOUND'
}

type Row = Standing & { readonly id: string }

type Step = Stated & { readonly before: State | null; readonly after: State | null }

/** What keeps a mandate and a charge apart, whatever their keys. */
export const recurrenceId = (kind: Kind, key: string): string => `${kind} ${key}`

export const idOf = ({ kind, key }: Pick<Fact, 'kind' | 'key'>): string => recurrenceId(kind, key)

/**
 * Writes what messages say about mandates and charges, in the transaction that stores the messages. All writers lock
 * the rows in the order of their keys.
 *
 * @param stated in the order of the messages
 * @returns the changes of state as events
 */
export const applyFacts = async (
  tx: Queryable,
  stated: readonly Stated[],
): Promise<readonly AppEvent[]> => {
  if (stated.length === 0) return []
  const rows = await lockRows(tx, stated)
  const standings = new Map<string, Standing>(rows.map((row) => [row.id, row]))
  const asks = await asksOf(tx, stated)
  const steps = stated.map((one): Step => {
    const { fact } = one
    const before = standings.get(idOf(fact)) ?? { state: null, stateBefore: null }
    const asked = asks.get(idOf(fact)) ?? []
    const isHeard = fact.event !== null && !answersFormer(one, asked)
    const after = isHeard ? transition(before, fact.event, one.direction) : before
    standings.set(idOf(fact), after)
    if (isAsk(one)) asks.set(idOf(fact), [...asked, askOf(one)])
    return { ...one, before: before.state, after: after.state }
  })
  // A refusal that only repeats what an answer has said is not worth a step.
  await writeSteps(
    tx,
    steps.filter((step) => step.fact.position < refusedPosition || hasChanged(step)),
  )
  await writeRows(tx, steps, standings)
  return steps.filter(hasChanged).map(eventOf)
}

/** Notes that messages tell of mandates and charges, and no more of what they say than a rebuild begins with. */
export const linkFacts = async (tx: Queryable, stated: readonly Stated[]): Promise<void> => {
  if (stated.length === 0) return
  await lockRows(tx, stated)
  await writeSteps(
    tx,
    stated.map((one) => ({ ...one, before: null, after: null })),
  )
}

const hasChanged = ({ before, after }: Step): boolean => before !== after

/** What was agreed before counts no more. */
const isAskedAgain = ({ fact, before, after }: Step): boolean =>
  fact.event === 'requested' && before !== null && before !== after

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

/** What may say no to a request, or yes to its cancellation. */
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

/** What of one mandate or charge we asked for last, in the order of the messages. */
const asksMax = 100

/** What we asked for before, of those that something may end now. */
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

const lockRows = async (tx: Queryable, stated: readonly Stated[]): Promise<readonly Row[]> => {
  const wanted = new Map(
    stated.toReversed().map(({ fact, messageId }) => {
      const { kind, key } = fact
      return [idOf(fact), { id: idOf(fact), kind, key, messageId }]
    }),
  )
  const sorted = [...wanted.values()].sort((a, b) => (a.id < b.id ? -1 : 1))
  await tx`
    insert into spi_recurrences (id, kind, key, created_by)
    select id, kind, key, "messageId" from json_to_recordset(${JSON.stringify(sorted)}::text::json)
      as wanted(id text, kind text, key text, "messageId" uuid)
    on conflict do nothing`
  return tx<Row[]>`
    select r.* from unnest(${textArray(sorted.map(({ id }) => id))}::text::text[]) as wanted(id)
      cross join lateral (
        select id, state, state_before as "stateBefore" from spi_recurrences
        where id = wanted.id limit 1 for update
      ) r`
}

const writeSteps = async (tx: Queryable, steps: readonly Step[]): Promise<void> => {
  const rows = steps.map((step) => ({
    id: idOf(step.fact),
    messageId: step.messageId,
    position: step.fact.position,
    type: step.fact.type,
    direction: step.direction,
    requestId: step.fact.requestId,
    status: step.fact.status,
    reason: step.fact.reason,
    state: hasChanged(step) ? step.after : null,
  }))
  await tx`
    insert into spi_recurrence_steps
      (recurrence_id, message_id, position, type, direction, request_id, status, reason, state)
    select id, "messageId", position, type, direction, "requestId", status, reason, state
    from json_to_recordset(${JSON.stringify(rows)}::text::json) as step(id text,
      "messageId" uuid, position int, type text, direction text, "requestId" text, status text,
      reason text, state text)
    on conflict do nothing`
}

const writeRows = async (
  tx: Queryable,
  steps: readonly Step[],
  standings: ReadonlyMap<string, Standing>,
): Promise<void> => {
  const rows = [...Map.groupBy(steps, ({ fact }) => idOf(fact))].map(([id, all]) => {
    const askedAgainAt = all.findLastIndex(isAskedAgain)
    const facts = all.slice(Math.max(askedAgainAt, 0)).map(({ fact }) => fact)
    return {
      id,
      ...standings.get(id),
      isAskedAgain: askedAgainAt >= 0,
      mandateId: facts.find(({ mandateId }) => mandateId !== null)?.mandateId,
      reconciliationId: facts.find(({ reconciliationId }) => reconciliationId !== null)
        ?.reconciliationId,
      terms: facts.find(({ terms }) => terms !== null)?.terms,
      changedBy: all.findLast(hasChanged)?.messageId,
    }
  })
  await tx`
    update spi_recurrences r
    set state = wanted.state, state_before = wanted."stateBefore",
      mandate_id = coalesce(case when not "isAskedAgain" then r.mandate_id end, wanted."mandateId"),
      reconciliation_id = coalesce(
        case when not "isAskedAgain" then r.reconciliation_id end, wanted."reconciliationId"),
      terms = coalesce(case when not "isAskedAgain" then r.terms end, wanted.terms),
      changed_by = coalesce(wanted."changedBy", r.changed_by)
    from json_to_recordset(${JSON.stringify(rows)}::text::json) as wanted(id text,
      state text, "stateBefore" text, "isAskedAgain" boolean, "mandateId" text,
      "reconciliationId" text, terms jsonb, "changedBy" uuid, nothing text)
    where ${looksLikeOne(tx)} and r.id = wanted.id`
}

/** The list of codes that the reasons of a type are in. */
const reasonLists = {
  'pain.011': codeLists.mandate_cancellation_reason,
  'pain.012': codeLists.mandate_refusal,
  'pain.014': codeLists.charge_refusal,
  'camt.055': codeLists.cancellation_reason,
  'camt.029': codeLists.cancellation_refusal,
} as const

const noCodes: CodeList = new Map()

export const reasonIn = (type: string, code: string | null, direction: Stated['direction']) =>
  reasonOf(
    code,
    Object.hasOwn(reasonLists, type) ? reasonLists[type as keyof typeof reasonLists] : noCodes,
    direction,
  )

const eventOf = ({ fact, messageId, direction, before, after }: Step): AppEvent => {
  const said = {
    state: after,
    previous_state: before,
    message_id: messageId,
    message_type: fact.type,
    reason: reasonIn(fact.type, fact.reason, direction),
  }
  if (fact.kind === 'mandate') {
    return {
      type: 'pix.mandate.changed',
      subject: fact.key,
      data: { mandate_id: fact.key, ...said },
    }
  }
  return {
    type: 'pix.charge.changed',
    subject: fact.key,
    data: {
      end_to_end_id: fact.key,
      reconciliation_id: fact.reconciliationId,
      mandate_id: fact.mandateId,
      ...said,
    },
  }
}

/** What becomes of a mandate or charge when the central bank refuses our message about it. */
const refusedEvents = {
  'pain.009': 'refused',
  'pain.011': 'cancellation_refused',
  'pain.013': 'refused',
  'camt.055': 'cancellation_refused',
} as const

/** Types of messages whose refusal takes back what they asked for. */
export const askingTypes = Object.keys(refusedEvents)

/** True for a message of one of {@link askingTypes}. */
export const isAsking = (type: string | null | undefined): type is keyof typeof refusedEvents =>
  typeof type === 'string' && Object.hasOwn(refusedEvents, type)

type RefusedStep = {
  readonly kind: Kind
  readonly key: string
  readonly messageId: string
  readonly position: number
  readonly type: keyof typeof refusedEvents
  readonly requestId: string | null
}

/** The refusal of a message stands behind all that the message itself says. */
export const refusedPosition = 1_000_000

/**
 * Returns what takes back the requests of our messages that were refused as a whole, as their changes say.
 *
 * @param typeOf the type of a changed message
 */
export const refusalsBy = async (
  tx: Queryable,
  changes: readonly Change[],
  typeOf: (id: string) => string | null | undefined,
): Promise<readonly Stated[]> => {
  const refused = new Map(
    changes
      .filter(({ id, status }) => status === 'REJECTED' && isAsking(typeOf(id)))
      .map(({ id, detail }) => [id, detail ?? null]),
  )
  if (refused.size === 0) return []
  const steps = await tx<RefusedStep[]>`
    select r.kind, r.key, s."messageId", s.position, s.type, s."requestId"
    from unnest(${textArray([...refused.keys()])}::text::uuid[]) as wanted(id)
      cross join lateral (
        select recurrence_id, message_id as "messageId", position, type, request_id as "requestId"
        from spi_recurrence_steps
        where message_id = wanted.id and position < ${refusedPosition} offset 0
      ) s
      cross join lateral (
        select kind, key from spi_recurrences where id = s.recurrence_id limit 1
      ) r
    order by s."messageId", s.position`
  return steps.flatMap(({ messageId, ...fact }) =>
    refusalOf({ fact, messageId }, refused.get(messageId) ?? null),
  )
}

/** What takes back what a refused message of ours asked for; nothing if it asked for nothing. */
export const refusalOf = (
  {
    fact: { kind, key, position, type, requestId },
    messageId,
  }: {
    readonly fact: Pick<Fact, 'kind' | 'key' | 'position' | 'type' | 'requestId'>
    readonly messageId: string
  },
  reason: string | null,
): readonly Stated[] =>
  isAsking(type)
    ? [
        {
          fact: {
            kind,
            key,
            position: refusedPosition + position,
            type,
            event: refusedEvents[type],
            requestId,
            status: 'REJECTED',
            reason,
            mandateId: null,
            reconciliationId: null,
            terms: null,
          },
          messageId,
          direction: 'OUTBOUND',
        },
      ]
    : []

type Change = {
  readonly id: string
  readonly status: string
  readonly detail?: string | undefined
}
