import type { Queryable } from '#src/platform/database/index.ts'
import { predecessorsOf } from '../../messages/domain.ts'
import {
  findSent,
  idsByKey,
  type MessageOutcome,
  type MessageStatus,
  type Outcome,
  replyOutcome,
  replyType,
  type SentMessage,
  type Warning,
} from '../../messages/index.ts'
import { institutionsOf } from '../../recurring/store.ts'
import { type Answer, type MessageAnswer, outcomeOf, type TransactionAnswer } from './answers.ts'
import type { ReadInbound } from './read.ts'
import { type AnsweredTransaction, findAnswered } from './store.ts'
import { warningsMax } from './validators/index.ts'

/** An answer, the message that carried it, and what it answers: undefined where we do not know that. */
export type MatchedAnswer = {
  readonly inbound: ReadInbound
  readonly answer: Answer
  readonly transactions: readonly AnsweredTransaction[]
  /** The id of our message, where the answer is to a message as a whole. */
  readonly messageId: string | undefined
}

export type Matches = {
  readonly answers: readonly MatchedAnswer[]
  readonly sent: ReadonlyMap<string, SentMessage>
}

/** Finds what the answers of a batch are about, with a fixed number of statements. */
export const matchAnswers = async (
  tx: Queryable,
  batch: readonly ReadInbound[],
  now: Date,
): Promise<Matches> => {
  const all = batch.flatMap((inbound) => inbound.answers.map((answer) => ({ inbound, answer })))
  if (all.length === 0) return { answers: [], sent: new Map() }
  const strangers = await strangersAmong(tx, all)
  const ofTransactions = all
    .map(({ answer }) => answer)
    .filter(isTransactionAnswer)
    .filter((answer) => !strangers.has(answer))
  const found = ofTransactions.length === 0 ? [] : await findAnswered(tx, ofTransactions, now)
  const byPlace = Map.groupBy(found, ({ place }) => place)
  const idByReference = await findReferences(
    tx,
    all.map(({ answer }) => answer).filter(isMessageAnswer),
  )
  const placeOf = new Map<Answer, number>(ofTransactions.map((answer, place) => [answer, place]))
  const answers = all.map(({ inbound, answer }) => ({
    inbound,
    answer,
    transactions: byPlace.get(placeOf.get(answer) ?? -1) ?? [],
    messageId: isMessageAnswer(answer) ? idByReference.get(answer.reference) : undefined,
  }))
  const sent = new Map(found.map(({ message }) => [message.id, message]))
  const others = [...idByReference.values()].filter((id) => !sent.has(id))
  if (others.length === 0) return { answers, sent }
  return { answers, sent: new Map([...sent, ...(await findSent(tx, [...new Set(others)]))]) }
}

const isTransactionAnswer = (answer: Answer): answer is TransactionAnswer =>
  answer.kind === 'transaction'
const isMessageAnswer = (answer: Answer): answer is MessageAnswer => answer.kind === 'message'

/** An institution without a part in the charge, as far as its terms tell, says nothing about ours. */
const strangersAmong = async (
  tx: Queryable,
  answers: readonly Pick<MatchedAnswer, 'inbound' | 'answer'>[],
): Promise<ReadonlySet<Answer>> => {
  const spoken = answers.flatMap(({ inbound, answer }) => {
    const speaker = inbound.facts[0]?.speaker
    return speaker !== undefined && isTransactionAnswer(answer) ? [{ speaker, answer }] : []
  })
  if (spoken.length === 0) return new Set()
  const institutions = await institutionsOf(
    tx,
    spoken.map(({ answer }) => answer.endToEndId),
  )
  const strange = spoken.filter(
    ({ speaker, answer }) => institutions.get(answer.endToEndId)?.includes(speaker) === false,
  )
  return new Set(strange.map(({ answer }) => answer))
}

/** An answer cites a refused message by its BizMsgIdr, or by its PI-ResourceId when the SPI could not read it. */
const findReferences = async (
  tx: Queryable,
  answers: readonly MessageAnswer[],
): Promise<ReadonlyMap<string, string>> => {
  if (answers.length === 0) return new Map()
  const references = [...new Set(answers.map(({ reference }) => reference))]
  const byBusinessId = await idsByKey(tx, 'OUTBOUND', 'BizMsgIdr', references)
  const others = references.filter((reference) => !byBusinessId.has(reference))
  if (others.length === 0) return byBusinessId
  return new Map([...byBusinessId, ...(await idsByKey(tx, 'OUTBOUND', 'ResourceId', others))])
}

/**
 * Returns a warning for each answer that is about nothing we know, or contradicts an earlier answer, up to a number for
 * each message: one of megabytes holds thousands of answers.
 */
export const answerWarnings = ({
  answers,
  sent,
}: Matches): ReadonlyMap<ReadInbound, readonly Warning[]> => {
  const warnings = new Map<ReadInbound, Warning[]>()
  for (const match of answers) {
    const known = warnings.get(match.inbound) ?? []
    if (known.length === warningsMax) continue
    const message = problemOf(match, sent)
    if (message === undefined) continue
    known.push({ rule: 'Answer', path: '/Envelope/Document', message })
    warnings.set(match.inbound, known)
  }
  return warnings
}

const problemOf = (match: MatchedAnswer, sent: Matches['sent']): string | undefined => {
  const { answer, transactions, messageId } = match
  if (transactions.length === 0 && messageId === undefined) {
    return 'answers a message that is not known'
  }
  const contradicts = [
    ...(answer.kind === 'transaction'
      ? transactions.map((about) => contradictsBefore(answer, about, sent))
      : []),
    messageId !== undefined && endsOtherwise(sent.get(messageId)?.status, answer.outcome),
  ]
  if (!contradicts.includes(true)) return undefined
  const about = [...transactions.map(({ message }) => message.id), messageId ?? '']
  const isResolved = about.some((id) => sent.get(id)?.isResolved === true)
  return isResolved ? 'contradicts what a person has told' : 'contradicts an earlier answer'
}

/** A message with several transactions ends as a whole, so we compare each transaction with its own answer. */
const contradictsBefore = (
  answer: TransactionAnswer,
  about: AnsweredTransaction,
  sent: Matches['sent'],
): boolean => {
  if (about.message.type !== replyType && about.status !== null) {
    return outcomeOf(about.status) !== answer.outcome
  }
  const status = sent.get(about.message.id)?.status
  // We do not keep with a reply what was reported of each part.
  if (status === 'PARTIALLY_ACCEPTED') return false
  return endsOtherwise(status, outcomeFor(answer, about))
}

/** An answer that moves the message does not contradict the state before it. */
const endsOtherwise = (status: MessageStatus | undefined, outcome: MessageOutcome): boolean =>
  status !== undefined && status !== outcome && !predecessorsOf(outcome).includes(status)

/** The SPI's report on a payment ends the payment or, at the receiver, the reply to it. */
export const outcomeFor = (
  answer: TransactionAnswer,
  { message: { type }, status }: AnsweredTransaction,
): Outcome => replyOutcome(type === replyType ? status : null, answer.outcome)
