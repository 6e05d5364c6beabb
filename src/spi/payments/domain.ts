/**
 * What becomes of one payment, read from the messages that name its EndToEndId. Nothing of it is stored a second time,
 * so it holds for every message that was ever stored.
 */

import { dayMs } from '#src/platform/runtime/days.ts'
import { isTrusted, settledStatuses, toldStatuses, untoldStatuses } from '../messages/domain.ts'

/** One transaction of a message that names the payment. */
export type PaymentMessage = {
  readonly messageId: string
  readonly position: number
  readonly type: string | null
  readonly direction: 'INBOUND' | 'OUTBOUND'
  readonly messageStatus: string
  /** A person has told how it ended. */
  readonly isResolved: boolean
  readonly signature: string
  /** RtrId of a return; what an answer is about. */
  readonly instructionId: string | null
  readonly amountCents: bigint | null
  readonly debtorIspb: string | null
  readonly creditorIspb: string | null
  /** What the message says or, of one that we sent, what was answered. */
  readonly status: string | null
  readonly reason: string | null
  /** What a report says: when the central bank settled. */
  readonly settledAt: Date | null
  /** When a message that we sent became what it is, and why. */
  readonly changedAt: Date | null
  readonly detail: string | null
}

export const outcomes = ['pending', 'settled', 'rejected', 'failed', 'unknown'] as const
/**
 * `pending` until there is an explicit answer. `failed`: the central bank has never taken the message, and it may still
 * be sent. `unknown`: no answer in time, and we ask for it.
 */
type Outcome = (typeof outcomes)[number]

export type PaymentReturn = {
  /** RtrId. */
  readonly id: string
  readonly direction: 'INBOUND' | 'OUTBOUND'
  readonly messageId: string
  readonly amountCents: bigint
  readonly reason: string | null
  readonly outcome: Outcome
  /** Codes of the refusal, or what else is known of why it failed. */
  readonly refusal: string | null
  readonly endedAt: Date | null
}

export type Payment = {
  readonly endToEndId: string
  /** INBOUND: paid to us. */
  readonly direction: 'INBOUND' | 'OUTBOUND'
  readonly messageId: string
  readonly position: number
  readonly amountCents: bigint
  readonly debtorIspb: string | null
  readonly creditorIspb: string | null
  readonly outcome: Outcome
  readonly refusal: string | null
  /** When the central bank settled it; where it does not tell, and of a refusal, when its answer was stored here. */
  readonly endedAt: Date | null
  /** Given back by the one who was paid, in the order of their messages. */
  readonly returns: readonly PaymentReturn[]
  /** Sum of the returns that are settled. */
  readonly returnedCents: bigint
  /** Sum of the returns that may still be settled: all that no explicit answer has refused. */
  readonly heldCents: bigint
}

/** A return is possible for so long after the settlement (DT05). */
const returnDays = 90

/** When the time to return a payment is over. */
export const returnDeadline = (settledAt: Date): Date =>
  new Date(settledAt.getTime() + returnDays * dayMs)

/** What can still be returned; never less than nothing, whatever was returned another way. */
export const refundableCents = ({ amountCents, returnedCents, heldCents }: Payment): bigint => {
  const rest = amountCents - returnedCents - heldCents
  return rest > 0n ? rest : 0n
}

/** The end of what we sent: the answer to the transaction; without one, that its message was refused as a whole. */
const sentOutcome = ({ status, messageStatus }: PaymentMessage): Outcome => {
  if (status !== null && settledStatuses.includes(status)) return 'settled'
  if (status === 'RJCT' || messageStatus === 'REJECTED') return 'rejected'
  if (messageStatus === 'FAILED') return 'failed'
  return messageStatus === 'UNKNOWN' ? 'unknown' : 'pending'
}

const standings: Readonly<Record<Outcome, number>> = {
  settled: 0,
  pending: 1,
  unknown: 1,
  failed: 2,
  rejected: 3,
}

/**
 * The one that counts among the messages of one operation: an operation whose message was refused may be sent again under
 * its id. `findOurs` of the reports chooses in the same order.
 */
const counting = (messages: readonly PaymentMessage[]): PaymentMessage | undefined =>
  messages.toSorted((a, b) => standings[sentOutcome(a)] - standings[sentOutcome(b)])[0]

const refusedStatuses: readonly string[] = ['RJCT']

/** The report of the SPI that ends an operation, named by its EndToEndId or RtrId, so. */
const reportOn = (
  id: string,
  messages: readonly PaymentMessage[],
  statuses: readonly string[],
): PaymentMessage | undefined =>
  messages.find(
    ({ type, direction, instructionId, status }) =>
      type === 'pacs.002' &&
      direction === 'INBOUND' &&
      instructionId === id &&
      status !== null &&
      statuses.includes(status),
  )

/**
 * Our own refusal, of which the SPI tells the payer alone, or a reply of which a person has told that nothing settled;
 * unless another reply of ours says otherwise. `findOurs` of the reports sees it so, too.
 */
const ownRefusal = (
  id: string,
  messages: readonly PaymentMessage[],
): PaymentMessage | undefined => {
  const own = messages.filter(
    ({ type, direction, instructionId, messageStatus, isResolved }) =>
      type === 'pacs.002' &&
      direction === 'OUTBOUND' &&
      instructionId === id &&
      (isResolved || !untoldStatuses.includes(messageStatus)),
  )
  return own.every(({ status, isResolved }) => isResolved || status === 'RJCT')
    ? own.find(
        ({ messageStatus, isResolved }) => isResolved || toldStatuses.includes(messageStatus),
      )
    : undefined
}

/** The end of what we received: that it settled outweighs that it was refused before. */
const outcomeBy = (settled: PaymentMessage | undefined, refused: PaymentMessage | undefined) => {
  if (settled !== undefined) return 'settled'
  return refused === undefined ? 'pending' : 'rejected'
}

type End = Pick<PaymentReturn, 'outcome' | 'refusal' | 'endedAt'>

const endOf = (
  id: string,
  message: PaymentMessage,
  messages: readonly PaymentMessage[],
  momentOf: (id: string) => Date,
): End => {
  const settled = reportOn(id, messages, settledStatuses)
  const isReceived = message.direction === 'INBOUND'
  const told = reportOn(id, messages, refusedStatuses)
  const refused = told ?? (isReceived ? ownRefusal(id, messages) : undefined)
  const outcome = isReceived ? outcomeBy(settled, refused) : sentOutcome(message)
  const report = outcome === 'settled' ? settled : refused
  const toldAt = report?.isResolved ? report.changedAt : null
  const reportedAt = report && (report.settledAt ?? toldAt ?? momentOf(report.messageId))
  const hasEnded = outcome === 'settled' || outcome === 'rejected'
  return {
    outcome,
    refusal:
      outcome === 'rejected' || outcome === 'failed'
        ? (report?.reason ?? report?.detail ?? message.detail)
        : null,
    endedAt: hasEnded ? (reportedAt ?? message.changedAt) : null,
  }
}

/**
 * Reads a payment from the messages that name it.
 *
 * @param messages in the order of their ids
 * @param momentOf when a message was stored
 * @returns undefined if no payment is among them
 */
export const paymentOf = (
  endToEndId: string,
  messages: readonly PaymentMessage[],
  momentOf: (id: string) => Date,
): Payment | undefined => {
  const trusted = messages.filter(({ signature }) => isTrusted(signature))
  const original = counting(trusted.filter(({ type }) => type === 'pacs.008'))
  if (original === undefined) return undefined
  const { direction, messageId, position, amountCents, debtorIspb, creditorIspb } = original
  const givingBack = direction === 'INBOUND' ? 'OUTBOUND' : 'INBOUND'
  const givenBack = Map.groupBy(
    trusted.filter((one) => one.type === 'pacs.004' && one.direction === givingBack),
    ({ instructionId }) => instructionId,
  )
  const returns = [...givenBack].flatMap(([id, all]): readonly PaymentReturn[] => {
    const message = counting(all)
    if (message === undefined || id === null) return []
    return [
      {
        id,
        direction: givingBack,
        messageId: message.messageId,
        amountCents: message.amountCents ?? 0n,
        reason: message.reason,
        ...endOf(id, message, trusted, momentOf),
      },
    ]
  })
  return {
    endToEndId,
    direction,
    messageId,
    position,
    debtorIspb,
    creditorIspb,
    amountCents: amountCents ?? 0n,
    ...endOf(endToEndId, original, trusted, momentOf),
    returns,
    returnedCents: sumOf(returns.filter(({ outcome }) => outcome === 'settled')),
    heldCents: sumOf(returns.filter(isHeld)),
  }
}

/** A return that failed holds its sum too: a person may have it sent after all. */
const isHeld = ({ outcome }: PaymentReturn): boolean =>
  outcome !== 'settled' && outcome !== 'rejected'

const sumOf = (returns: readonly PaymentReturn[]): bigint =>
  returns.reduce((sum, { amountCents }) => sum + amountCents, 0n)

/** The parts of a payment with cash: each has its own reason of return. Undefined without cash. */
export type CashParts = { readonly cashCents: bigint; readonly purchaseCents: bigint }

const cashReason = 'SL02'
const userReason = 'MD06'

/**
 * What can be returned for a reason: SL02 gives back cash only, MD06 of a purchase with cash the purchase only, every
 * other reason whatever is left.
 *
 * @returns undefined if the reason does not fit the payment
 */
export const refundableFor = (
  reason: string,
  payment: Payment,
  cash: CashParts | undefined,
): bigint | undefined => {
  const rest = refundableCents(payment)
  if (reason === cashReason && cash === undefined) return undefined
  const part = partOf(reason, cash)
  if (part === undefined) return rest
  const used = sumOf(
    payment.returns.filter(
      (one) => one.reason === reason && (one.outcome === 'settled' || isHeld(one)),
    ),
  )
  const left = part > used ? part - used : 0n
  return left < rest ? left : rest
}

const partOf = (reason: string, cash: CashParts | undefined): bigint | undefined => {
  if (cash === undefined) return undefined
  if (reason === cashReason) return cash.cashCents
  return reason === userReason && cash.purchaseCents > 0n ? cash.purchaseCents : undefined
}
