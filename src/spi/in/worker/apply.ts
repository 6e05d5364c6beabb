import type { AppEvent } from '#src/events/index.ts'
import { deadLetterOf, type OutgoingMessage } from '#src/platform/broker/index.ts'
import type { Queryable, Rider } from '#src/platform/database/index.ts'
import {
  changeStatuses,
  enqueueMessages,
  insertMessages,
  isHeeded,
  type LateAnswer,
  type LateDeps,
  type NewMessage,
  type OutboundMessage,
  type Outbox,
  othersUnderKnownKeys,
  refundEvents,
  rememberAnswers,
  reportedEnds,
  type SentMessage,
  type StatusChange,
  statusEvent,
} from '../../messages/index.ts'
import type { Fact, Stated } from '../../recurring/domain.ts'
import { applyFacts, refusalsBy } from '../../recurring/project.ts'
import { applyReports } from '../../reports/project.ts'
import { type Brought, changesOf } from './changes.ts'
import { receivedEvents } from './events.ts'
import { answerWarnings, type MatchedAnswer, matchAnswers } from './match.ts'
import type { ReadInbound } from './read.ts'
import { type Receivables, refusedReturns } from './received.ts'

/** Reasons by EndToEndId. */
type Refusals = ReadonlyMap<string, string | undefined>

export type ApplyDeps = LateDeps & {
  readonly outbox: Outbox
  /** Settles what carried the batch: whoever lost it changes nothing. */
  readonly settling: Rider | undefined
  /** The answers that this gateway itself gives to the message. */
  readonly replies: (inbound: ReadInbound, refusals: Refusals) => readonly OutboundMessage[]
  readonly receivables: Receivables | undefined
  /** Answers what is said of the mandates and charges of receivers that we know. */
  readonly answersTo: (tx: Queryable, facts: readonly Fact[]) => Promise<readonly OutboundMessage[]>
  readonly group: string
  readonly now: () => Date
}

/** The result of a batch, once its transaction commits. */
export type Applied = {
  /** The messages stored now, by what was read; a message that we knew already is not among them. */
  readonly stored: ReadonlyMap<ReadInbound, NewMessage>
  /** Messages that carry the id of a known message but differ from it: they go to `dlq`. */
  readonly misnamed: ReadonlySet<ReadInbound>
  readonly changes: readonly StatusChange[]
  /** Answers whose PI-ResourceId was recorded while the batch was applied. */
  readonly late: readonly LateAnswer[]
  readonly sent: ReadonlyMap<string, SentMessage>
  readonly repliesQueued: number
  readonly deadLetters: number
}

/**
 * Stores a batch and everything that follows from it, in the caller's transaction, in a fixed number of statements.
 * A message that we know already has no effect. We take locks in one order (keys, messages, subjects), each kind
 * sorted, so that several workers wait for one another and do not deadlock.
 */
export const applyBatch = async (
  tx: Queryable,
  batch: readonly ReadInbound[],
  deps: ApplyDeps,
): Promise<Applied> => {
  const now = deps.now()
  const matches = await matchAnswers(tx, batch, now)
  const warnings = answerWarnings(matches)
  const messages = batch.map((inbound) => ({
    ...inbound.message,
    warnings: [...inbound.message.warnings, ...(warnings.get(inbound) ?? [])],
  }))
  const { settling } = deps
  const ids = await insertMessages(tx, messages, settling && [settling])
  const stored = new Map<ReadInbound, NewMessage>()
  for (const [index, inbound] of batch.entries()) {
    const message = messages[index]
    if (message !== undefined && ids.has(message.id)) stored.set(inbound, message)
  }
  const typeOf = (id: string) => matches.sent.get(id)?.type
  const effective = matches.answers.filter(
    (match) => stored.has(match.inbound) && endsAll(match, typeOf),
  )
  const brought = await changesOf(tx, effective)
  const { wanted, answered } = brought
  const moved = wanted.length === 0 ? new Set() : await changeStatuses(tx, wanted, answered)
  const changes = wanted.filter(({ id }) => moved.has(id))
  const refunds = await refundEvents(tx, changes, typeOf)
  const stated = [...[...stored].flatMap(statedBy), ...(await refusalsBy(tx, changes, typeOf))]
  // A sender locks the recurrence first, and then what messages say of it; so must we.
  const answers = await deps.answersTo(
    tx,
    stated.map(({ fact }) => fact),
  )
  const recurring = await applyFacts(tx, stated)
  const differences = await applyReports(
    tx,
    [...stored].map(([{ reported }, { id }]) => ({ reported, messageId: id })),
  )
  await deps.emitEvents(tx, [
    ...[...stored.keys()].flatMap(receivedEvents),
    ...changes.flatMap((change) => {
      const sent = matches.sent.get(change.id)
      return sent === undefined ? [] : [statusEvent(sent, change)]
    }),
    ...refunds,
    ...recurring,
    ...differences,
  ])
  const late = await rememberAnswers(tx, effective.flatMap(unknownOf), deps)
  const received = {
    payments: [...stored.keys()].flatMap(({ payments }) => payments),
    ends: endsBy([...stored.keys()], effective, brought, refunds),
  }
  const refusals = await receive(tx, received, deps.receivables, now)
  const replies = [
    ...[...stored.keys()].flatMap((inbound) => deps.replies(inbound, refusals)),
    ...answers,
  ]
  await enqueueMessages(tx, deps.outbox, replies)
  const known = messages.filter(({ id }) => !ids.has(id))
  const others = await othersUnderKnownKeys(tx, known)
  const misnamed = batch.filter((_, index) => others.has(messages[index]?.id ?? ''))
  const letters = [
    ...[...stored].flatMap(([inbound, { errorCode }]) =>
      errorCode === undefined ? [] : [letterOf(inbound, errorCode, deps, now)],
    ),
    ...misnamed.map((inbound) => letterOf(inbound, misnamedCode, deps, now)),
  ]
  await deps.outbox.publishIn(tx, letters)
  return {
    stored,
    misnamed: new Set(misnamed),
    changes,
    late,
    sent: matches.sent,
    repliesQueued: replies.length,
    deadLetters: letters.length,
  }
}

/** An answer whose subject we do not know yet is judged when we do. */
const endsAll = (
  { inbound, transactions, messageId }: MatchedAnswer,
  typeOf: (id: string) => string | undefined,
): boolean =>
  [...transactions.map(({ message }) => message.type), typeOf(messageId ?? '')].every((type) =>
    isHeeded(inbound.message.signature, type),
  )

const noRefusals: Refusals = new Map()

type Received = Pick<ReadInbound, 'payments' | 'ends'>

/** The ends of what others sent, and of what we gave back: nobody waits here for those of payments that we made. */
const endsOfOthers = (
  stored: readonly ReadInbound[],
  answers: readonly MatchedAnswer[],
): Received['ends'] => {
  const ours = new Set(
    answers.flatMap(({ answer, transactions }) =>
      answer.kind === 'transaction' &&
      transactions.length > 0 &&
      transactions.every(({ message }) => message.type === 'pacs.008')
        ? [answer.endToEndId]
        : [],
    ),
  )
  return stored
    .flatMap(({ ends }) => ends)
    .filter(({ endToEndId, returnId }) => returnId !== null || !ours.has(endToEndId))
}

/** The ends that reports tell, and those of returns that were told to have settled and are refused with their message. */
const endsBy = (
  stored: readonly ReadInbound[],
  answers: readonly MatchedAnswer[],
  { resolved, refusedWhole }: Brought,
  refunds: readonly AppEvent[],
): Received['ends'] => [
  ...endsOfOthers(stored, answers).map(correcting(answers, resolved)),
  ...refusedReturns(refunds, refusedWhole).filter(({ isCorrection }) => isCorrection),
]

/** Marks the ends of returns whose end a person had told. */
const correcting = (
  answers: readonly MatchedAnswer[],
  resolved: ReadonlySet<string>,
): ((end: Received['ends'][number]) => Received['ends'][number]) => {
  const returns = new Set(
    answers.flatMap(({ answer, transactions }) =>
      answer.kind === 'transaction' &&
      transactions.some(({ message, isTold }) => isTold && resolved.has(message.id))
        ? [answer.instructionId]
        : [],
    ),
  )
  return (end) => (returns.has(end.returnId ?? '') ? { ...end, isCorrection: true } : end)
}

/** Tells of payments and of their ends, in this order: a batch may hold both. */
const receive = async (
  tx: Queryable,
  { payments, ends }: Received,
  receivables: Receivables | undefined,
  now: Date,
): Promise<Refusals> => {
  if (receivables === undefined) return noRefusals
  const refusals = payments.length === 0 ? noRefusals : await receivables.receive(tx, payments, now)
  const all = [...ends, ...(await endsBefore(tx, [...refusals.keys()], ends))]
  if (all.length > 0) await receivables.end(tx, all, now)
  return refusals
}

/** The ends of payments that were told, and stored, before the payments themselves. */
const endsBefore = async (
  tx: Queryable,
  endToEndIds: readonly string[],
  ends: Received['ends'],
): Promise<Received['ends']> => {
  const known = new Set(ends.map(({ endToEndId, returnId }) => returnId ?? endToEndId))
  return reportedEnds(
    tx,
    endToEndIds.filter((id) => !known.has(id)),
  )
}

const statedBy = ([{ facts }, { id }]: readonly [ReadInbound, NewMessage]): readonly Stated[] =>
  facts.map((fact) => ({ fact, messageId: id, direction: 'INBOUND' }))

/** An answer that cites a PI-ResourceId which is not recorded yet. */
const unknownOf = ({ inbound, answer, messageId }: MatchedAnswer) => {
  if (answer.kind !== 'message' || messageId !== undefined) return []
  const { reference, outcome, reason } = answer
  return [{ messageId: inbound.message.id, reference, outcome, reason }]
}

/** Nobody has seen a central bank do this, but if we only logged it, a payment would be lost. */
const misnamedCode = 'ids_of_another_message'

/** A message that we cannot read or store goes here, for people to look at. */
const letterOf = (
  { delivery }: ReadInbound,
  errorCode: string,
  { group }: ApplyDeps,
  firstFailure: Date,
): OutgoingMessage =>
  deadLetterOf({ delivery, group, errorCode, attempt: delivery.attempt, firstFailure })
