import type { NewReversal } from '../reversals/types.ts'
import { isStarted } from '../transactions/domain.ts'
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
} as const

/** The reversals that a step begins, to be committed with it, in their order. */
export const reversalsBegun = (
  before: CardTransaction,
  after: CardTransaction,
): readonly NewReversal[] => {
  const { operation } = after
  if (operation === undefined || operation === before.operation) return []
  if (isStarted(operation) || operation === 'verification') return []
  const reversal = reversalOf(after, reversing[operation])
  // A void takes back the last capture: the others go before the hold beneath them.
  const isAfterVoid = operation === 'reversing_authorization' && before.status !== 'pending'
  return isAfterVoid ? [...earlierCaptures(after), reversal] : [reversal]
}

const earlierCaptures = (after: CardTransaction): readonly NewReversal[] =>
  (after.captures ?? []).map(({ stan, transmission, cents }) =>
    reversalOf(
      {
        ...{ ...after, operationStan: stan, operationTransmission: transmission },
        operationCents: BigInt(cents),
      },
      'capture',
    ),
  )

/** What the partial void under way leaves of the authorization. */
const remainingOf = ({ amountCents, reversedCents = 0n, operationCents = 0n }: CardTransaction) =>
  amountCents - reversedCents - operationCents

/** The reversal that undoes the operation; for a void, the void itself, which has been sent once. */
export const reversalOf = (
  transaction: CardTransaction,
  reverses: NewReversal['reverses'],
): NewReversal => {
  const isPart = reverses === 'partial_void' || reverses === 'release'
  // What is released without a request was never sent.
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
    traceparent: transaction.traceparent,
    attempts: isSent ? 1 : 0,
    stan: isSent ? transaction.operationStan : undefined,
    transmission: isSent ? transaction.operationTransmission : undefined,
  }
}

/** The message that moved the money, which is the one to take back. */
const originalOf = (transaction: CardTransaction, reverses: NewReversal['reverses']) => {
  const { operationStan = '', operationTransmission = '', operationCents = 0n } = transaction
  if (reverses === 'capture' || reverses === 'refund' || reverses === 'increment') {
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
      originalMti: '0200',
      originalStan: captureStan,
      originalTransmission: captureTransmission,
      amountCents: lastCaptured(transaction),
    } as const
  }
  return {
    originalMti: '0100',
    originalStan: transaction.stan,
    originalTransmission: transaction.transmission,
    amountCents: transaction.amountCents,
  } as const
}
