import type { CardMessage } from '#codecs/iso8583'
import type { Network } from '../networks/index.ts'
import type { ReconciliationRules } from '../networks/reconciliation-form.ts'
import {
  type Movement,
  type MovementFees,
  settlementDay,
  shiftOf,
} from '../reconciliation/index.ts'
import type { BookedKind, MovementKind } from '../reconciliation/totals.ts'
import type { Booking } from '../reversals/attempt.ts'
import type { Reversal, ReversalOutcome } from '../reversals/types.ts'
import type { CardTransaction } from '../transactions/store.ts'
import { lastCaptured } from './amounts.ts'
import type { OperationName } from './context.ts'
import type { Verdict } from './exchange.ts'

/**
 * What the network books with an answer, for the totals of its business day: sales are debits, refunds credits. Holds
 * move nothing, unless the network's authorizations are 0200, and their increments with them; approved ones are counted
 * where it compares their number.
 */

type Books = Pick<Network, 'name' | 'reconciliation' | 'content' | 'answers'>
type Numbers = Pick<Movement, 'stan' | 'transmission' | 'cents'>

/** Whether an authorization is a sale by itself. */
export const isSale = (
  { content }: Pick<Books, 'content'>,
  name: 'authorization' | 'authorization_advice' = 'authorization',
): boolean => content.mtiOf(name).startsWith('02')

/** The message that a void takes back, if that moved money. */
const voided = (network: Books, before: CardTransaction): Numbers | undefined => {
  const { captureStan, captureTransmission, capturedCents = 0n } = before
  if (capturedCents > 0n && captureStan !== undefined && captureTransmission !== undefined) {
    return { stan: captureStan, transmission: captureTransmission, cents: lastCaptured(before) }
  }
  const { stan, transmission, amountCents, reversedCents = 0n } = before
  return isSale(network) ? { stan, transmission, cents: amountCents - reversedCents } : undefined
}

const movedBy = (
  network: Books,
  operation: OperationName,
  before: CardTransaction,
  partCents: bigint | undefined,
): readonly [MovementKind, Numbers] | undefined => {
  const { operationStan: stan = '', operationTransmission: transmission = '' } = before
  const own = { stan, transmission, cents: before.operationCents ?? 0n }
  switch (operation) {
    case 'capture':
    case 'partial_capture':
      return ['debit', own]
    case 'refund':
      return ['credit', own]
    case 'increment':
      return isSale(network) ? ['debit', own] : undefined
    case 'void': {
      const taken = voided(network, before)
      return taken && ['debit_reversal', taken]
    }
    case 'partial_void':
    case 'release':
      // Each by its own numbers, because several may take back parts of one sale.
      return isSale(network) ? ['debit_reversal', own] : undefined
    case 'authorization': {
      const { stan: first, transmission: at, amountCents } = before
      const numbers = { stan: first, transmission: at, cents: partCents ?? amountCents }
      return isSale(network) ? ['debit', numbers] : undefined
    }
    default:
      return undefined
  }
}

const counting = ['authorization', 'increment', 'verification'] as const
type Counting = (typeof counting)[number]
const isCounting = (operation: string): operation is Counting =>
  counting.some((one) => one === operation)

/** Whether the message of an operation is one of the authorizations that are counted. */
const isCounted = ({ content }: Books, operation: string): boolean =>
  isCounting(operation) && content.countsAuthorizations && content.mtiOf(operation).startsWith('01')

const countedBy = (
  network: Books,
  operation: OperationName,
  { stan, transmission, operationStan, operationTransmission, ...before }: CardTransaction,
  partCents: bigint | undefined,
): readonly (readonly [BookedKind, Numbers])[] => {
  if (!isCounted(network, operation)) return []
  const numbers =
    operation === 'increment'
      ? {
          stan: operationStan ?? '',
          transmission: operationTransmission ?? '',
          cents: before.operationCents ?? 0n,
        }
      : { stan, transmission, cents: partCents ?? before.amountCents }
  return [['authorization', numbers]]
}

/** The day in which the network books what we hear of at a moment: DE 15, or what is needed to tell it. */
const dayOf = (
  { isByNetwork, cutOver }: ReconciliationRules,
  settlementDate: string | undefined,
  at: Date,
): Pick<Movement, 'day' | 'shiftMinutes'> => ({
  day: settlementDay(settlementDate, at),
  shiftMinutes: isByNetwork ? undefined : shiftOf(cutOver),
})

/** What the network has booked with the answer to an operation; nothing where no totals are compared. */
export const bookedBy = (
  network: Books | undefined,
  operation: OperationName,
  before: CardTransaction,
  verdict: Verdict,
  at: Date,
): readonly Movement[] => {
  if (network?.reconciliation === undefined || verdict.kind !== 'approved') return []
  const { partCents, settlementDate, fees } = verdict
  const moved = movedBy(network, operation, before, partCents)
  const { id: transactionId, currency } = before
  const day = dayOf(network.reconciliation, settlementDate, at)
  const common = { network: network.name, ...day, currency, transactionId }
  return [
    ...(moved === undefined ? [] : [moved]),
    ...countedBy(network, operation, before, partCents),
  ].map(([kind, numbers]) => ({ ...common, kind, ...numbers, ...chargedFor(fees)(kind) }))
}

/** What the network has booked that told of its reversal of the whole authorization. */
export const bookedByReversal = (
  network: Books | undefined,
  before: CardTransaction,
  { settlementDate }: Pick<CardMessage, 'settlementDate'>,
  at: Date,
): readonly Movement[] => {
  const verdict = {
    kind: 'approved',
    responseCode: '',
    authCode: undefined,
    settlementDate,
  } as const
  return bookedBy(network, 'void', before, verdict, at)
}

type Charged = (kind: BookedKind) => Pick<Movement, 'fees'>
const nothingCharged: Charged = () => ({})

/** Sales and refunds have fees. */
const chargedFor = (fees: MovementFees | undefined): Charged =>
  fees === undefined
    ? nothingCharged
    : (kind) => (kind === 'debit' || kind === 'credit' ? { fees } : {})

const kindsOf = (network: Books, { reverses, originalMti }: Reversal): readonly BookedKind[] => {
  const sale = ['debit', 'debit_reversal'] as const
  switch (reverses) {
    case 'capture_advice':
    case 'partial_capture_advice':
      return ['debit']
    case 'refund_advice':
      return ['credit']
    case 'capture':
      return sale
    case 'refund':
      return ['credit', 'credit_reversal']
    case 'void':
      return originalMti.startsWith('02') || isSale(network) ? sale : []
    case 'partial_void':
    case 'release':
      return isSale(network) ? ['debit_reversal'] : []
    case 'authorization':
      return isSale(network) ? sale : counted(network, reverses)
    case 'increment':
      return [...(isSale(network) ? sale : []), ...counted(network, reverses)]
    case 'authorization_advice':
      return isSale(network, reverses) ? ['debit'] : counted(network, 'authorization')
    default:
      return []
  }
}

const counted = (network: Books, operation: Counting): readonly BookedKind[] =>
  isCounted(network, operation) ? ['authorization'] : []

/** The amount taken back of a sale: a part, or what earlier parts have left of it. */
const takenBackOf = (
  { reverses, originalMti, amountCents, remainingCents }: Reversal,
  reversedCents: bigint,
): bigint => {
  const isOfFirst = reverses !== 'increment' && originalMti.startsWith('01')
  const standing = isOfFirst ? amountCents - reversedCents : amountCents
  return standing - (remainingCents ?? 0n)
}

/**
 * What the network has booked where it has confirmed a reversal or an advice. What it takes back it had booked before,
 * even where we never heard of that: both count, as in its own totals.
 *
 * @param reversedCents what partial voids had taken back of the transaction before
 */
export const bookedByEnd = (
  network: Books | undefined,
  ended: Reversal,
  outcome: ReversalOutcome,
  booking: Booking | undefined,
  reversedCents: bigint,
  at: Date,
): readonly Movement[] => {
  if (network?.reconciliation === undefined || outcome !== 'confirmed') return []
  const { reverses, responseCode = '', transactionId, currency, amountCents } = ended
  const isAdvice = reverses.endsWith('_advice')
  // A network has booked nothing of what it does not know.
  if (!isAdvice && network.answers.ofReversal(responseCode, true) !== 'done') return []
  const { stan = '', transmission = '', originalStan, originalTransmission } = ended
  const isPart = reverses === 'partial_void' || reverses === 'release'
  const numbers =
    isAdvice || isPart
      ? { stan, transmission }
      : { stan: originalStan, transmission: originalTransmission }
  const day = dayOf(network.reconciliation, booking?.settlementDate, at)
  const common = { network: network.name, ...day, currency, transactionId, ...numbers }
  const charged = isAdvice ? chargedFor(booking?.fees) : nothingCharged
  const takenBack = takenBackOf(ended, reversedCents)
  return kindsOf(network, ended).map((kind) => {
    const cents = kind === 'debit_reversal' ? takenBack : amountCents
    return { ...common, kind, cents, ...charged(kind) }
  })
}
