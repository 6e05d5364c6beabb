import type { AdviceRules } from '../networks/index.ts'
import type { AdvisedOperation, ReversedOperation } from '../reversals/schema.ts'
import type { NewReversal } from '../reversals/types.ts'
import { type CardOperation, isAdvising, isStarted } from '../transactions/domain.ts'
import type { CardTransaction } from '../transactions/store.ts'
import { lastCaptured } from './amounts.ts'

const reversing = {
  reversing_authorization: 'authorization',
  reversing_increment: 'increment',
  reversing_capture: 'capture',
  reversing_void: 'void',
  reversing_partial_void: 'partial_void',
  reversing_release: 'release',
  reversing_refund: 'refund',
} as const satisfies Record<Extract<CardOperation, `reversing_${string}`>, ReversedOperation>

const advising = {
  advising_authorization: 'authorization_advice',
  advising_capture: 'capture_advice',
  advising_partial_capture: 'partial_capture_advice',
  advising_refund: 'refund_advice',
} as const satisfies Record<Extract<CardOperation, `advising_${string}`>, AdvisedOperation>

/** The reversal or advice sent for an operation without an answer; undefined: none, or the operation's own message. */
export const sentFor = (operation: CardOperation): NewReversal['reverses'] | undefined => {
  const all: Readonly<Partial<Record<CardOperation, NewReversal['reverses']>>> = {
    ...reversing,
    ...advising,
  }
  return all[operation]
}

/** A transaction may have several of these; their numbers tell them apart. */
const following = ['increment', 'capture', 'refund'] as const

export const followsAuthorization = (
  reverses: NewReversal['reverses'],
): reverses is (typeof following)[number] => following.some((one) => one === reverses)

/** Whether the reversal is that of the operation under way, and not of an earlier one of its kind. */
export const isOfOperation = (
  { operation, operationStan, operationTransmission }: CardTransaction,
  {
    reverses,
    originalStan,
    originalTransmission,
  }: Pick<NewReversal, 'reverses' | 'originalStan' | 'originalTransmission'>,
): boolean => {
  if (operation !== `reversing_${reverses}`) return false
  // Rows of earlier versions may be without numbers.
  if (!followsAuthorization(reverses) || operationStan === undefined) return true
  return operationStan === originalStan && operationTransmission === originalTransmission
}

/**
 * The reversals and advices that a step begins, to be committed with it, in their order.
 *
 * @param rules of a network that may be advised
 */
export const reversalsBegun = (
  before: CardTransaction,
  after: CardTransaction,
  rules?: AdviceRules | undefined,
): readonly NewReversal[] => {
  const { operation } = after
  if (operation === undefined || operation === before.operation) return []
  if (isStarted(operation) || operation === 'verification') return []
  if (isAdvising(operation)) return [adviceOf(after, advising[operation], rules?.expiryHours)]
  const reversal = reversalOf(after, reversing[operation])
  // A void takes back the last capture: the others go before the hold beneath them.
  const wasVoid = before.operation === 'void' || before.operation === 'reversing_void'
  const isAfterVoid = wasVoid && operation === 'reversing_authorization'
  return isAfterVoid ? [...earlierCaptures(after), reversal] : [reversal]
}

const earlierCaptures = (after: CardTransaction): readonly NewReversal[] =>
  (after.captures ?? []).map(({ stan, transmission, cents, advised = false }) => {
    const reversal = reversalOf(
      {
        ...after,
        operationStan: stan,
        operationTransmission: transmission,
        operationCents: BigInt(cents),
      },
      'capture',
    )
    return advised ? { ...reversal, originalMti: '0220' } : reversal
  })

/** Tells the network of the operation; its message has the numbers that the operation has. */
const adviceOf = (
  transaction: CardTransaction,
  advises: (typeof advising)[keyof typeof advising],
  expiryHours: number | undefined,
): NewReversal => {
  const { captures = [], captureStan, stan, transmission, amountCents } = transaction
  const isFirst = advises === 'authorization_advice'
  const isCapture = advises === 'capture_advice' || advises === 'partial_capture_advice'
  return {
    ...reversalOf(transaction, 'authorization'),
    reverses: advises,
    amountCents: isFirst ? amountCents : (transaction.operationCents ?? 0n),
    stan: isFirst ? stan : transaction.operationStan,
    transmission: isFirst ? transmission : transaction.operationTransmission,
    captureNumber: isCapture ? captures.length + (captureStan === undefined ? 1 : 2) : undefined,
    expiryHours,
  }
}

/** The amount that the partial void under way leaves of the authorization. */
const remainingOf = ({ amountCents, reversedCents = 0n, operationCents = 0n }: CardTransaction) =>
  amountCents - reversedCents - operationCents

/** The reversal that undoes the operation; for a void, the void itself, which has been sent once. */
export const reversalOf = (
  transaction: CardTransaction,
  reverses: NewReversal['reverses'],
): NewReversal => {
  const isPart = reverses === 'partial_void' || reverses === 'release'
  // A release that nobody requested was never sent.
  const isSent = (reverses === 'void' || isPart) && transaction.operationStan !== undefined
  return {
    transactionId: transaction.id,
    network: transaction.network,
    reverses,
    cardToken: transaction.cardToken,
    currency: transaction.currency,
    ...originalOf(transaction, reverses),
    rrn: transaction.rrn,
    authCode: transaction.authCode,
    merchantId: transaction.merchantId,
    terminalId: transaction.terminalId,
    installments: transaction.installments,
    details: transaction.details,
    remainingCents: isPart ? remainingOf(transaction) : undefined,
    captureNumber: undefined,
    expiryHours: undefined,
    traceparent: transaction.traceparent,
    attempts: isSent ? 1 : 0,
    stan: isSent ? transaction.operationStan : undefined,
    transmission: isSent ? transaction.operationTransmission : undefined,
  }
}

/** The message that moved the money, which is the one to take back. */
const originalOf = (transaction: CardTransaction, reverses: NewReversal['reverses']) => {
  const { operationStan = '', operationTransmission = '', operationCents = 0n } = transaction
  if (followsAuthorization(reverses)) {
    return {
      originalMti: reverses === 'increment' ? '0100' : '0200',
      originalStan: operationStan,
      originalTransmission: operationTransmission,
      amountCents: operationCents,
    } as const
  }
  const { captureStan, captureTransmission, capturedCents = 0n } = transaction
  const isCapture = reverses === 'void' && capturedCents > 0n
  if (isCapture && captureStan !== undefined && captureTransmission !== undefined) {
    return {
      originalMti: transaction.captureAdvised === true ? '0220' : '0200',
      originalStan: captureStan,
      originalTransmission: captureTransmission,
      amountCents: lastCaptured(transaction),
    } as const
  }
  return {
    originalMti: transaction.standIn === true ? '0120' : '0100',
    originalStan: transaction.stan,
    originalTransmission: transaction.transmission,
    amountCents: transaction.amountCents,
  } as const
}
