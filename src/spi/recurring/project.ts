import { type CodeList, codeLists } from '#codecs/iso20022'
import type { AppEvent } from '#src/events/index.ts'
import { looksLikeOne, type Queryable, textArray } from '#src/platform/database/index.ts'
import { reasonOf } from '../reasons.ts'
import {
  type Fact,
  idOf,
  isAsking,
  isStrangers,
  type Kind,
  refusedEvents,
  refusedPosition,
  type Standing,
  type State,
  type Stated,
  transition,
} from './domain.ts'
import { earlierThan } from './earlier.ts'

type Row = Standing & { readonly id: string; readonly terms: Fact['terms'] }

type Step = Stated & { readonly before: State | null; readonly after: State | null }

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
  const terms = new Map(rows.map((row) => [row.id, row.terms]))
  const earlier = await earlierThan(tx, stated)
  const steps = stated.map((one): Step => {
    const { fact } = one
    const id = idOf(fact)
    const before = standings.get(id) ?? { state: null, stateBefore: null }
    const agreed = terms.get(id) ?? null
    const meaning = isStrangers(one, before, agreed) ? null : earlier.meaningOf(one)
    const after = meaning === null ? before : transition(before, meaning, one.direction)
    standings.set(id, after)
    const step = { ...one, before: before.state, after: after.state }
    earlier.note(one, hasChanged(step) ? step.after : null)
    terms.set(id, isAskedAgain(step) ? fact.terms : (agreed ?? fact.terms))
    return step
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

/** What was agreed before no longer counts. Our request tells who is asked, also if another request is open. */
const isAskedAgain = ({ fact, direction, before, after }: Step): boolean =>
  fact.event === 'requested' &&
  before !== null &&
  (before !== after || (direction === 'OUTBOUND' && isOpen(before)))

const isOpen = (state: State): boolean => state === 'requested' || state === 'pending'

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
        select id, state, state_before as "stateBefore", terms from spi_recurrences
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

type RefusedStep = {
  readonly kind: Kind
  readonly key: string
  readonly messageId: string
  readonly position: number
  readonly type: keyof typeof refusedEvents
  readonly requestId: string | null
}

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

/** The facts that take back what a refused message of ours asked for; none if it asked for nothing. */
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
