import type { CardMessage } from '#codecs/iso8583'
import type { Client, Transaction } from '#src/platform/database/index.ts'
import type { Logger } from '#src/platform/observe/index.ts'
import { type Backoff, backoffMs } from '#src/platform/runtime/index.ts'
import type { Merchants } from '../merchants.ts'
import type { AnswerRules, ExchangeOutcome, Network } from '../networks/index.ts'
import {
  adviceMessage,
  isUncarried,
  originalMtiOf,
  reversalMessage,
  shownMessage,
  withoutKept,
} from '../networks/messages.ts'
import { feesIn, type MovementFees } from '../reconciliation/index.ts'
import type { ShownMessage } from '../transactions/schema.ts'
import { type Card, cardOr, type Vault } from '../vault/index.ts'
import type { AttemptOutcome, ReversalMetrics } from './metrics.ts'
import { beginAttempt, endOwned, hold, release } from './store.ts'
import { type EndedReversal, isAdviceOf, type Reversal, type ReversalOutcome } from './types.ts'

/** DE 11 and DE 7 of the reversal. */
type ReversalNumbers = { readonly stan: string; readonly transmission: string }

/** Called in the transaction that ends the reversal; if it throws, the reversal does not end. */
type OnEnded = (
  tx: Transaction,
  reversal: EndedReversal,
  outcome: ReversalOutcome,
  booking?: Booking | undefined,
) => Promise<void>

/**
 * Called first in the transaction that ends the reversal. Locks the payment: everybody locks that before its reversals.
 * Returns whether the network has approved what is taken back.
 */
type LockOriginal = (tx: Transaction, reversal: Reversal) => Promise<boolean>

/** How the network has booked it by its answer: DE 15, DE 28 and DE 30. */
export type Booking = {
  readonly settlementDate: string | undefined
  readonly fees: MovementFees | undefined
}

export type AttemptContext = {
  readonly sql: Client
  readonly vault: Vault
  /** DE 11 and DE 7 for a message that is to be sent now. */
  readonly nextStan: (network: Network) => Promise<ReversalNumbers>
  readonly lockOriginal: LockOriginal
  readonly onEnded: OnEnded
  readonly merchants: Merchants
  readonly backoff: Backoff
  /** Bound of the wait after a try that sent nothing. */
  readonly holdMs: number
  /** How much longer a lease lasts than the network's time. */
  readonly leaseMarginMs: number
  /** How old a reversal must be before "unknown here" ends it. */
  readonly windowMs: (network: Network) => number
  readonly metrics: ReversalMetrics
  readonly logger: Logger
}

/** A reversal, and the name under which it is leased. */
export type ClaimedReversal = { readonly reversal: Reversal; readonly owner: string }

/** The result of an attempt, for the table. */
type Result = {
  readonly outcome: AttemptOutcome
  readonly responseCode: string | undefined
  readonly booking?: Booking
  readonly messages?: EndedReversal['messages']
}

const noByteWritten: ReadonlySet<AttemptOutcome> = new Set([
  'not_sent',
  'vault_unavailable',
  'token_unknown',
  'failed',
])

/**
 * Sends a claimed reversal once and stores the result. Returns the outcome; undefined if the lease was lost before the
 * first byte.
 *
 * @throws the database's errors: then the lease ends, and the reversal is due again
 */
export const attemptReversal = async (
  context: AttemptContext,
  network: Network,
  claimed: ClaimedReversal,
): Promise<AttemptOutcome | undefined> => {
  const { reversal, owner } = claimed
  const card = await cardOr(context.vault, reversal.cardToken)
  if (typeof card === 'string') {
    await putBack(context, claimed, { outcome: card, responseCode: undefined }, false)
    return card
  }
  let sent: Promise<Result>
  let numbers: ReversalNumbers
  try {
    numbers = numbersOf(reversal) ?? (await context.nextStan(network))
    const leaseSeconds = (network.timeoutMs + context.leaseMarginMs) / 1_000
    if (!(await beginAttempt(context.sql, reversal.id, owner, numbers, leaseSeconds)))
      return undefined
    sent = send(context, network, reversal, numbers, card)
  } finally {
    card.pan.fill(0)
  }
  const result = await sent
  const { outcome } = result
  const { stan, transmission } = numbers
  const numbered = { owner, reversal: { ...reversal, stan, transmission } }
  if (outcome === 'confirmed' || outcome === 'declined') {
    await end(context, numbered, result, outcome === 'confirmed' ? outcome : 'refused', 0)
  } else if (outcome === 'not_known') await endOrHold(context, network, numbered, result)
  else await putBack(context, claimed, result, noByteWritten.has(result.outcome))
  return outcome
}

/** A repeat keeps the numbers of the first sending; a reversal that was never sent gets new ones, an advice has its own. */
const numbersOf = ({
  attempts,
  reverses,
  stan,
  transmission,
}: Reversal): ReversalNumbers | undefined =>
  (attempts === 0 && !isAdviceOf(reverses)) || stan === undefined || transmission === undefined
    ? undefined
    : { stan, transmission }

const build = (
  { merchants }: AttemptContext,
  { content }: Network,
  reversal: Reversal,
  numbers: ReversalNumbers,
  { pan, expiry, cryptogram }: Card,
): CardMessage => {
  const { reverses } = reversal
  const beside = { expiry, profile: merchants.get(reversal.merchantId) }
  const token = reverses === 'authorization_advice' ? { cryptogram } : {}
  return isAdviceOf(reverses)
    ? adviceMessage(content, { ...reversal, reverses }, numbers, pan, { ...beside, ...token })
    : reversalMessage(content, reversal, numbers, pan, beside)
}

/** What was sent and what came of it; `failed`: the network's dialect cannot carry it, now or later. */
type Exchanged =
  | {
      readonly request: CardMessage
      readonly asked: ShownMessage
      readonly exchanged: ExchangeOutcome
    }
  | { readonly failed: unknown }

/** @throws what fails by itself while bytes of it may have reached the network */
const exchangeOnce = async (
  context: AttemptContext,
  network: Network,
  reversal: Reversal,
  numbers: ReversalNumbers,
  card: Card,
): Promise<Exchanged> => {
  const { content, timeoutMs } = network
  let request: CardMessage
  try {
    request = build(context, network, reversal, numbers, card)
  } catch (failed) {
    return { failed }
  }
  const asked = shownMessage(content, request)
  // A connection that swallowed the original may be up and swallow all that follows it: repeats go over any.
  const isFollower = reversal.attempts === 0 && !isAdviceOf(reversal.reverses)
  const follows = isFollower
    ? { mti: originalMtiOf(content, reversal), stan: reversal.originalStan }
    : undefined
  try {
    return { request, asked, exchanged: await network.exchange(request, timeoutMs, follows) }
  } catch (failed) {
    if (isUncarried(failed)) return { failed }
    throw failed
  }
}

/**
 * The card number is not used after the call has returned its promise.
 *
 * @throws as {@link exchangeOnce}
 */
const send = async (
  context: AttemptContext,
  network: Network,
  reversal: Reversal,
  numbers: ReversalNumbers,
  card: Card,
): Promise<Result> => {
  const { logger } = context
  const isAdvice = isAdviceOf(reversal.reverses)
  const plain = isAdvice ? undefined : withoutKept(reversal)
  const spare = { ...card, pan: Uint8Array.from(plain === undefined ? [] : card.pan) }
  let sent: Exchanged
  try {
    sent = await exchangeOnce(context, network, reversal, numbers, card)
    // Money is held, and what was kept of the approval may be why no message can carry it.
    if ('failed' in sent && plain !== undefined && isUncarried(sent.failed)) {
      const kept = Object.keys(reversal.details?.kept ?? {})
      logger.error(
        { err: sent.failed, reversal: reversal.id.toString(), kept },
        'a reversal is sent without what was kept of the approval',
      )
      sent = await exchangeOnce(context, network, plain, numbers, spare)
    }
  } finally {
    spare.pan.fill(0)
  }
  if ('failed' in sent) {
    // People see it in the log, by its age, and when it expires.
    logger.error(
      { err: sent.failed, reversal: reversal.id.toString() },
      'a reversal could not be built',
    )
    return { outcome: 'failed', responseCode: undefined }
  }
  const { request, asked, exchanged } = sent
  if (exchanged.kind !== 'answered') return { outcome: exchanged.kind, responseCode: undefined }
  const { response } = exchanged
  const read = isAdvice ? readAdviceAnswer : readAnswer
  const result = read(network.answers, request, response)
  const booking = { settlementDate: response.settlementDate, fees: feesIn(response) }
  const messages = [asked, shownMessage(network.content, response)]
  response.wipe()
  return { ...result, booking, messages }
}

const putBack = async (
  { sql, backoff, holdMs }: AttemptContext,
  { reversal, owner }: ClaimedReversal,
  { outcome, responseCode }: Result,
  isUnsent: boolean,
): Promise<void> => {
  const isTransient = outcome === 'not_sent' || outcome === 'vault_unavailable'
  const waitMs = isTransient
    ? Math.random() * holdMs
    : noByteWritten.has(outcome)
      ? Math.random() * backoff.backoffMaxMs
      : backoffMs(reversal.attempts + 1, backoff)
  await release(sql, reversal.id, owner, { waitMs, isUnsent, responseCode })
}

/** An original that the network does not know may yet come to it: until its time is over we ask again. */
const endOrHold = async (
  context: AttemptContext,
  network: Network,
  claimed: ClaimedReversal,
  result: Result,
): Promise<void> => {
  const windowMs = context.windowMs(network)
  if (await end(context, claimed, result, 'not_known', windowMs)) return
  await hold(context.sql, claimed.reversal.id, claimed.owner, result.responseCode ?? '', windowMs)
}

/**
 * What the network has approved, and then does not know, may be money all the same: that confirms nothing, unless it
 * has confirmed before that this was done.
 *
 * @returns false if it is younger than `ageMsMin`, or another process has it
 */
const end = async (
  { sql, lockOriginal, onEnded, metrics, logger }: AttemptContext,
  { reversal, owner }: ClaimedReversal,
  { responseCode = '', booking, messages }: Result,
  told: 'confirmed' | 'refused' | 'not_known',
  ageMsMin: number,
): Promise<boolean> => {
  const outcome = await sql.begin(async (tx): Promise<ReversalOutcome | undefined> => {
    const isApproved = await lockOriginal(tx, reversal)
    const isDoubted = isApproved && reversal.doneAt === undefined
    const status: ReversalOutcome =
      told !== 'not_known' ? told : isDoubted ? 'expired' : 'confirmed'
    const ending = { responseCode, ageMsMin, status, isDone: told === 'confirmed' }
    if (!(await endOwned(tx, reversal.id, owner, ending))) return undefined
    await onEnded(tx, { ...reversal, responseCode, messages }, status, booking)
    return status
  })
  if (outcome === undefined) return false
  const { network, reverses, transactionId: transaction } = reversal
  metrics.of(reverses).ended.inc({ network, outcome })
  const what = isAdviceOf(reverses) ? 'an advice' : 'a reversal'
  logger[outcome === 'confirmed' ? 'info' : 'error'](
    { transaction, network, response_code: responseCode },
    `${what} is ${outcome}`,
  )
  return true
}

const isReversalAnswer = (mti: string): boolean => mti === '0410' || mti === '0430'

/** What an answer means for its reversal. */
export const readAnswer = (
  rules: AnswerRules,
  request: CardMessage,
  response: CardMessage,
): {
  readonly outcome: 'confirmed' | 'not_known' | 'refused'
  readonly responseCode: string | undefined
} => {
  const { responseCode } = response
  const isOfIt =
    isReversalAnswer(response.mti) &&
    (response.amount === undefined || response.amount === request.amount) &&
    (response.currency === undefined || response.currency === request.currency)
  if (!isOfIt || responseCode === undefined) return { outcome: 'refused', responseCode }
  const meaning = rules.ofReversal(responseCode, request.mti.endsWith('1'))
  return { outcome: meaning === 'done' ? 'confirmed' : meaning, responseCode }
}

/** What an answer means for its advice. Only codes that are certain at the network decide whether it is done. */
const readAdviceAnswer = (
  rules: AnswerRules,
  request: CardMessage,
  response: CardMessage,
): {
  readonly outcome: 'confirmed' | 'declined' | 'refused'
  readonly responseCode: string | undefined
} => {
  const { responseCode } = response
  const isOfIt =
    (response.mti === '0130' || response.mti === '0230') &&
    (response.amount === undefined || response.amount === request.amount)
  if (!isOfIt || responseCode === undefined) return { outcome: 'refused', responseCode }
  const isRepeat = request.mti.endsWith('1')
  if (rules.ofReversal(responseCode, isRepeat) === 'done') {
    return { outcome: 'confirmed', responseCode }
  }
  if (rules.of(responseCode) === 'approved') return { outcome: 'confirmed', responseCode }
  return { outcome: rules.of(responseCode) === 'declined' ? 'declined' : 'refused', responseCode }
}
