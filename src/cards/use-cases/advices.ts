import { CodecError } from '#codecs/bytes'
import { type CardMessage, parseOriginalData } from '#codecs/iso8583'
import type { EmitWithin } from '#src/events/index.ts'
import type { Transaction } from '#src/platform/database/index.ts'
import type { Network, TakeAdvice } from '../networks/index.ts'
import { insertMovements } from '../reconciliation/index.ts'
import { storable } from '../text.ts'
import { refundsOf } from '../transactions/card-events.ts'
import { changed } from '../transactions/changes.ts'
import { isStarted, transition } from '../transactions/domain.ts'
import type { Capture } from '../transactions/schema.ts'
import {
  type AdviceData,
  type CardTransaction,
  hasRoomForAdvice,
  idByReference,
  isAdvised,
  lockTransaction,
} from '../transactions/store.ts'
import { centsIn, currencyIn } from '../transactions/told-amounts.ts'
import { keepUnmatched, unmatchedOf } from '../transactions/unmatched.ts'
import { changeTransactions } from '../transactions/writes.ts'
import { capturesOf, lastCaptured } from './amounts.ts'
import { isGoingOn } from './attention.ts'
import { bookedByReversal, isSale } from './booking.ts'
import type { ListenerDeps } from './context.ts'
import { takeBackWithin } from './late-approvals.ts'

/** Response codes: taken; no such transaction. */
const taken = '00'
const unknownHere = '25'

/** By the message, which may be a repeat. */
const kinds: Readonly<Record<string, AdviceData['mti']>> = {
  '0120': '0120',
  '0121': '0120',
  '0220': '0220',
  '0221': '0220',
  '0420': '0420',
  '0421': '0420',
  '0620': '0620',
  '0621': '0620',
}

/**
 * Takes what networks tell of their own accord; each counts once, however often it is told. A reversal that they made
 * (0420) ends the authorization that it takes back. An approval that they stand for (0120) is the one in the book, or
 * it is taken back. A booking (0220) is the one in the book. Of anything else the transaction needs attention. An
 * administrative advice (0620) is noted with its transaction, and never refused. What belongs to no transaction is kept
 * for a person.
 */
export const createAdvices = (deps: ListenerDeps): TakeAdvice => {
  const { sql, logger, onReversals, inTurn } = deps
  const take = async (
    { network, message }: Parameters<TakeAdvice>[0],
    numbers: Readonly<Record<string, string | undefined>>,
  ): Promise<string | undefined> => {
    const { stan, rrn } = message
    const transmission = storable(message.transmissionDateTime)
    const mti = kinds[message.mti]
    const id = rrn && (await idByReference(sql, network, rrn.trimEnd()))
    if (mti === undefined) return unknownHere
    if (!id || stan === undefined || transmission === undefined) {
      const isKept = await keepUnmatched(sql, unmatchedOf(network, message, mti))
      logger.warn(numbers, 'an advice of the card network belongs to no transaction')
      if (!isKept) return undefined
      return mti === '0620' ? taken : unknownHere
    }
    const data = { mti, stan, transmission }
    const result = await sql.begin((tx) => takeWithin(deps, tx, id, data, message))
    if (result === 'undecided') return undefined
    if (result === 'reversed') onReversals()
    logger.warn({ ...numbers, transaction: id }, 'an advice of the card network was taken')
    return taken
  }

  return async (advice) => {
    const { mti, stan, rrn } = advice.message
    const numbers = { network: advice.network, mti, stan, rrn }
    try {
      return await inTurn(() => take(advice, numbers))
    } catch (err) {
      logger.error({ ...numbers, err }, 'an advice of the card network was not kept')
      return undefined
    }
  }
}

/** @returns `undecided`: what became of the request itself is not written yet, so the network has to tell it again */
const takeWithin = async (
  deps: ListenerDeps,
  tx: Transaction,
  id: string,
  data: AdviceData,
  message: CardMessage,
): Promise<'taken' | 'reversed' | 'undecided'> => {
  const before = await lockTransaction(tx, id)
  if (before === undefined || (await isAdvised(tx, id, data))) return 'taken'
  if (before.status === 'pending' && before.operation === undefined) return 'undecided'
  if (data.mti === '0220' && (await isUnderWay(tx, before, message))) return 'undecided'
  const network = deps.networks.byName(before.network)
  const rules = network?.answers
  const { responseCode } = message
  const isApproved = responseCode !== undefined && rules?.of(responseCode) !== 'declined'
  const isRefund = data.mti === '0220' && message.processingCode?.startsWith('20') === true
  const refunds = isRefund ? await refundsOf(tx, id) : undefined
  const at = deps.now()
  const sale = saleOf(network, before)
  const after = afterAdvice(data.mti, before, message, isApproved, { refunds, sale }, at)
  // A network may tell more and more: what changes nothing is noted as long as there is room.
  if (after !== before || (await hasRoomForAdvice(tx, id))) {
    await note(tx, before, after, data, deps.emission)
  }
  if (after.status === 'voided' && before.status === 'authorized') {
    await insertMovements(tx, bookedByReversal(network, before, message, at))
  }
  if (data.mti !== '0120' || !isApproved || after !== before) return 'taken'
  const isUncertain = rules?.of(responseCode) !== 'approved'
  return takeBackWithin(deps, tx, before, { answers: 'payment', stan: before.stan, isUncertain })
}

/** The transaction as the advice leaves it: the same one where the book says what the network says. */
const afterAdvice = (
  mti: AdviceData['mti'],
  before: CardTransaction,
  message: CardMessage,
  isApproved: boolean,
  booked: Booked,
  at: Date,
): CardTransaction => {
  if (mti === '0620') return before
  if (mti === '0420') return reversed(before, message, at)
  const agrees =
    mti === '0120'
      ? agreesOnHold(before, message, isApproved)
      : agreesOnBooking(before, message, booked) === isApproved
  const isKnown = message.responseCode !== undefined && agrees
  return isKnown ? before : { ...before, needsAttention: true, updatedAt: at }
}

/** DE 4 of the message; undefined unless it can be read, and is in the currency of the transaction as far as it says. */
const amountIn = (message: CardMessage, { currency }: CardTransaction): bigint | undefined =>
  (currencyIn(message) ?? currency) === currency ? centsIn(message) : undefined

/** Whether the network holds what the book says, or what is being taken back in any case. */
const agreesOnHold = (
  before: CardTransaction,
  message: CardMessage,
  isApproved: boolean,
): boolean => {
  const isHeld = before.status === 'authorized' || before.status === 'captured'
  return isHeld ? isApproved && amountIn(message, before) === before.amountCents : true
}

/** What the book may hold besides captures. */
type Booked = {
  /** Where the network tells of one. */
  readonly refunds: readonly Capture[] | undefined
  /** The authorization where it is a sale. */
  readonly sale: readonly Capture[]
}

/** The authorization as a sale, also with the sum that a void in part has left. Captures tell of a captured one. */
const saleOf = (
  network: Pick<Network, 'content'> | undefined,
  { status, stan, transmission, amountCents, reversedCents = 0n }: CardTransaction,
): readonly Capture[] => {
  if (status !== 'authorized' || network === undefined || !isSale(network)) return []
  const sums = new Set([amountCents, amountCents - reversedCents])
  return [...sums].map((cents) => ({ stan, transmission, cents: Number(cents) }))
}

/** Whether what the network tells of is a sale or capture of the book, or one of the refunds where it tells of one. */
const agreesOnBooking = (
  before: CardTransaction,
  message: CardMessage,
  { refunds, sale }: Booked,
): boolean => {
  const cents = amountIn(message, before)
  if (before.status === 'voided' || cents === undefined) return false
  const captures = [...sale, ...(capturesOf(before) ?? [])]
  const earlier = sale.length === 0 ? [before] : []
  const amounts =
    refunds === undefined
      ? amountsNamed(message, captures, earlier, [before.capturedCents, lastCaptured(before)])
      : amountsNamed(message, refunds, [before, ...captures], [before.refundedCents])
  return amounts.includes(cents)
}

/**
 * The booked amounts that the message may be about: by its numbers, or all if it gives none.
 *
 * @param earlier what they all follow: a message that names it says nothing of which of them it means
 */
const amountsNamed = (
  message: CardMessage,
  booked: readonly Capture[],
  earlier: readonly Numbers[],
  sums: readonly (bigint | undefined)[],
): readonly (bigint | undefined)[] => {
  const of = (numbers: Numbers): readonly bigint[] =>
    booked.filter((one) => isSame(one, numbers)).map(({ cents }) => BigInt(cents))
  const named = namedBy(message)
  if (named !== undefined && !earlier.some((one) => isSame(one, named))) return of(named)
  const own = of(ownOf(message))
  if (own.length > 0) return own
  return [...sums, ...booked.map(({ cents }) => BigInt(cents))]
}

/** DE 11 and DE 7 of a message. */
type Numbers = { readonly stan: string | undefined; readonly transmission: string | undefined }

const isSame = (one: Numbers, other: Numbers): boolean =>
  one.stan !== undefined && one.stan === other.stan && one.transmission === other.transmission

const ownOf = ({
  stan,
  transmissionDateTime: transmission,
}: Pick<CardMessage, 'stan' | 'transmissionDateTime'>): Numbers => ({
  stan,
  transmission,
})

/** The numbers of the message that DE 90 names, empty if it cannot be read; undefined without DE 90. */
const namedBy = ({ originalData }: CardMessage): Numbers | undefined => {
  if (originalData === undefined) return undefined
  try {
    return ownOf(parseOriginalData(originalData))
  } catch (error) {
    if (error instanceof CodecError) return { stan: undefined, transmission: undefined }
    throw error
  }
}

/** Whether the answer to what the booking is about has not come yet, and nobody has given it up. */
const isUnderWay = async (
  tx: Transaction,
  before: CardTransaction,
  message: CardMessage,
): Promise<boolean> => {
  const { operation, operationStan: stan, operationTransmission: transmission } = before
  if (!isSame({ stan, transmission }, namedBy(message) ?? ownOf(message))) return false
  return isStarted(operation) || (await isGoingOn(tx, before))
}

const note = async (
  tx: Transaction,
  before: CardTransaction,
  after: CardTransaction,
  data: AdviceData,
  emission: EmitWithin | undefined,
): Promise<void> => {
  const isOpen = after.needsAttention && after.status === before.status && after !== before
  const events = [{ type: 'network_advice', data: { ...data, attention: String(isOpen) } }]
  await changeTransactions(tx, [{ before, after, events }], emission)
}

/** The transaction after its network has reversed what the message names. */
const reversed = (before: CardTransaction, message: CardMessage, at: Date): CardTransaction => {
  if (isOfAll(before, message) && transition(before, 'reversed_by_network') !== undefined) {
    const fields = { reason: 'reversed_by_network', voidedAt: at }
    return changed(before, 'reversed_by_network', fields, at)
  }
  // Nothing is on hold, or what is on hold is being taken back in any case.
  const { status, operation } = before
  const isOver = status === 'voided' || status === 'declined' || status === 'verified'
  if (isOver || operation === 'reversing_authorization') return before
  return { ...before, needsAttention: true, updatedAt: at }
}

/** Whether the message takes back the whole authorization, by the numbers that it gives. */
const isOfAll = (before: CardTransaction, message: CardMessage): boolean => {
  const { replacementAmounts } = message
  if (amountIn(message, before) !== before.amountCents) return false
  if (replacementAmounts !== undefined && /[1-9]/.test(replacementAmounts)) return false
  const named = namedBy(message)
  return named === undefined || isSame(before, named)
}
