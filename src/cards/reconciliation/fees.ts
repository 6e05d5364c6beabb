import { type CardMessage, createFieldGetter, type FieldValue } from '#codecs/iso8583'
import type { MovementKind } from './totals.ts'

/**
 * What networks charge, in minor units: pure. No book of ours says what was agreed on, but a network may tell with each
 * answer what it takes for it (DE 28 and 30, x+n 8), and then the sums of a day (DE 82 to 85, n 12) can be compared.
 */

/** What a network takes for one movement; a credit is negative. */
export type MovementFees = {
  /** DE 28. */
  readonly transaction?: bigint
  /** DE 30. */
  readonly processing?: bigint
}

export const messageFeeFields = [28, 30] as const
const [transactionOf, processingOf] = messageFeeFields.map(createFieldGetter) as [Getter, Getter]
type Getter = ReturnType<typeof createFieldGetter>

const feeForm = /^[CD]\d{8}$/

const readFee = (value: FieldValue | undefined): bigint | undefined => {
  if (value === undefined) return undefined
  const text = typeof value === 'string' ? value : String.fromCharCode(...value)
  if (!feeForm.test(text)) return undefined
  const cents = BigInt(text.slice(1))
  return text.startsWith('C') ? -cents : cents
}

/** The fees of an answer; undefined if it tells none that can be read. */
export const feesIn = (answer: CardMessage): MovementFees | undefined => {
  if (answer.more === undefined) return undefined
  const transaction = readFee(transactionOf(answer))
  const processing = readFee(processingOf(answer))
  if (transaction === undefined && processing === undefined) return undefined
  return {
    ...(transaction === undefined ? {} : { transaction }),
    ...(processing === undefined ? {} : { processing }),
  }
}

/** DE 82 to 85: processing and transaction fees of credits and debits. */
export const feeFields = {
  credit_processing: 82,
  credit_transaction: 83,
  debit_processing: 84,
  debit_transaction: 85,
} as const
export type FeeName = keyof typeof feeFields
export const feeNames = Object.keys(feeFields) as readonly FeeName[]

/** Null cannot be read. */
export type Fees<Amount> = Readonly<Partial<Record<FeeName, Amount | null>>>

/** The movements of one kind, how many of them have fees, and the sums of these. */
export type FeeSums = {
  readonly kind: string
  readonly count: number
  readonly transactionCount: number
  readonly transactionCents: bigint | null
  readonly processingCount: number
  readonly processingCents: bigint | null
}

/**
 * The fees that our book knows: of sales or refunds that all told them, and of which none was taken back in the day, as
 * only the network knows whether it gives a fee back.
 */
export const feesFrom = (rows: readonly FeeSums[]): Fees<bigint> => {
  const of = (kind: MovementKind): Fees<bigint> => {
    const row = rows.find((one) => one.kind === kind)
    if (row === undefined || rows.some((one) => one.kind === `${kind}_reversal`)) return {}
    const { count, transactionCents, processingCents } = row
    const known: (readonly [string, bigint])[] = []
    if (row.transactionCount === count) known.push([`${kind}_transaction`, transactionCents ?? 0n])
    if (row.processingCount === count) known.push([`${kind}_processing`, processingCents ?? 0n])
    // The fields have no sign.
    return Object.fromEntries(known.map(([name, cents]) => [name, cents < 0n ? -cents : cents]))
  }
  return { ...of('credit'), ...of('debit') }
}

/** Whether the fees that a network told are ours, where our book knows them. */
export const feesAgree = (ours: Fees<bigint> = {}, theirs: Fees<bigint> = {}): boolean =>
  feeNames.every((name) => {
    const [own, told] = [ours[name], theirs[name]]
    return own === undefined || told === undefined || own === told
  })

/** Fees as they are stored: amounts as text, which JSON keeps exactly. */
export const storedFees = (fees: Fees<bigint>): Fees<string> =>
  Object.fromEntries(
    Object.entries(fees).map(([name, cents]) => [name, cents === null ? null : String(cents)]),
  )

export const restoredFees = (stored: Fees<string>): Fees<bigint> =>
  Object.fromEntries(
    Object.entries(stored).map(([name, cents]) => [name, cents === null ? null : BigInt(cents)]),
  )
