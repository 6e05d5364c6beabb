import type { Fields } from '../transactions/changes.ts'
import { isAdvising } from '../transactions/domain.ts'
import type { Capture } from '../transactions/schema.ts'
import type { CardTransaction } from '../transactions/store.ts'

/** The fields that an approved capture sets; `before` is the transaction while it is under way. */
export const capturedBy = (before: CardTransaction, at: Date): Fields => ({
  captureAdvised: isAdvising(before.operation) || undefined,
  capturedCents: (before.capturedCents ?? 0n) + (before.operationCents ?? 0n),
  captures: capturesOf(before),
  captureStan: before.operationStan,
  captureTransmission: before.operationTransmission,
  capturedAt: at,
  captureError: undefined,
})

/** The fields that an approved increment sets. */
export const incrementedBy = ({ amountCents, operationCents = 0n }: CardTransaction): Fields => ({
  amountCents: amountCents + operationCents,
  incrementError: undefined,
})

/** The approved captures, with the numbers under which the network has them. */
export const capturesOf = (transaction: CardTransaction): readonly Capture[] | undefined => {
  const { captures, captureStan: stan, captureTransmission: transmission } = transaction
  if (stan === undefined || transmission === undefined) return captures
  const advised = transaction.captureAdvised === true ? { advised: true } : {}
  const last = { stan, transmission, cents: Number(lastCaptured(transaction)), ...advised }
  return [...(captures ?? []), last]
}

/** The amount of the last capture. */
export const lastCaptured = ({ capturedCents = 0n, captures = [] }: CardTransaction): bigint =>
  captures.reduce((left, { cents }) => left - BigInt(cents), capturedCents)

/** The fields that an approved refund sets, and an approved partial void. */
export const refundedBy = ({
  refundedCents = 0n,
  operationCents = 0n,
}: CardTransaction): Fields => ({
  refundedCents: refundedCents + operationCents,
  refundError: undefined,
})
export const partiallyVoidedBy = ({
  reversedCents = 0n,
  operationCents = 0n,
}: CardTransaction): Fields => ({
  reversedCents: reversedCents + operationCents,
  voidError: undefined,
})
