import { type CardMessage, createFieldGetter } from '#codecs/iso8583'
import {
  type FeeSums,
  type Fees,
  feeFields,
  feeNames,
  feesAgree,
  feesFrom,
  restoredFees,
  storedFees,
} from './fees.ts'

/** The totals of one business day of one network in one currency: pure. */

/** How many, and their sum in minor units. */
type Sum = { readonly count: number; readonly cents: bigint }

/** A debit is a sale, a credit a refund: they move money from the holder, and to the holder. */
export const movementKinds = ['credit', 'credit_reversal', 'debit', 'debit_reversal'] as const
export type MovementKind = (typeof movementKinds)[number]

/** What we book. Approved authorizations move nothing; we count them where a network compares their number. */
export const bookedKinds = [...movementKinds, 'authorization'] as const
export type BookedKind = (typeof bookedKinds)[number]

export type Totals = Readonly<Record<MovementKind, Sum>> & {
  readonly authorizations: number
  /** The fees that our book knows; undefined: none. */
  readonly fees?: Fees<bigint> | undefined
}

/** A figure of the network's book: undefined if it told none, null if we cannot read it. */
type Told = { readonly count?: number | null; readonly cents?: bigint | null }
export type ToldTotals = Readonly<Record<MovementKind, Told>> & {
  readonly authorizations?: number | null
  readonly fees?: Fees<bigint> | undefined
}

/** The data element of the number of authorizations (n 10). */
export const authorizationsField = 81

/** The data elements of number (n 10) and amount (n 16) of each. */
export const totalFields: Readonly<
  Record<MovementKind, { readonly count: number; readonly cents: number }>
> = {
  credit: { count: 74, cents: 86 },
  credit_reversal: { count: 75, cents: 87 },
  debit: { count: 76, cents: 88 },
  debit_reversal: { count: 77, cents: 89 },
}

/** Calls the function for each kind of movement. */
export const byKind = <T>(of: (kind: MovementKind) => T): Readonly<Record<MovementKind, T>> => ({
  credit: of('credit'),
  credit_reversal: of('credit_reversal'),
  debit: of('debit'),
  debit_reversal: of('debit_reversal'),
})

const nothing: Sum = { count: 0, cents: 0n }

type KindSum = { readonly kind: BookedKind; readonly count: number; readonly cents: bigint }

export const totalsFrom = (rows: readonly (KindSum & FeeSums)[]): Totals => {
  const fees = feesFrom(rows)
  return Object.keys(fees).length === 0 ? sumsFrom(rows) : { ...sumsFrom(rows), fees }
}

const sumsFrom = (rows: readonly KindSum[]): Totals => {
  const of = (kind: BookedKind): Sum => {
    const { count, cents } = rows.find((row) => row.kind === kind) ?? nothing
    return { count, cents }
  }
  return { ...byKind(of), authorizations: of('authorization').count }
}

/** What the holders owe in the end; negative: what they get. */
export const netCents = (totals: Totals): bigint =>
  totals.debit.cents -
  totals.debit_reversal.cents -
  totals.credit.cents +
  totals.credit_reversal.cents

/** DE 97, x+n 16: the sign that a net of debits has in the view of the network, C or D, and the amount. */
export const netText = (totals: Totals, signOfDebits: 'C' | 'D'): string => {
  const net = netCents(totals)
  const otherSign = signOfDebits === 'D' ? 'C' : 'D'
  const amount = net < 0n ? -net : net
  return (net < 0n ? otherSign : signOfDebits) + String(amount).padStart(16, '0')
}

const digits = /^\d{1,16}$/

const readCount = (text: string | undefined): number | null | undefined =>
  text === undefined ? undefined : digits.test(text) ? Number(text) : null

/** An amount that no number of JSON holds exactly is no amount that anybody could be shown. */
const readCents = (text: string | undefined): bigint | null | undefined => {
  if (text === undefined) return undefined
  return digits.test(text) && Number.isSafeInteger(Number(text)) ? BigInt(text) : null
}

/** The totals of what gives the text of each field; undefined if it has none. */
export const toldBy = (textOf: (de: number) => string | undefined): ToldTotals | undefined => {
  let isTold = false
  const of = (kind: MovementKind): Told => {
    const count = readCount(textOf(totalFields[kind].count))
    const cents = readCents(textOf(totalFields[kind].cents))
    isTold ||= count !== undefined || cents !== undefined
    return {
      ...(count === undefined ? {} : { count }),
      ...(cents === undefined ? {} : { cents }),
    }
  }
  const authorizations = readCount(textOf(authorizationsField))
  isTold ||= authorizations !== undefined
  const fees = Object.fromEntries(
    feeNames.flatMap((name) => {
      const cents = readCents(textOf(feeFields[name]))
      return cents === undefined ? [] : [[name, cents]]
    }),
  )
  const told = {
    ...byKind(of),
    ...(authorizations === undefined ? {} : { authorizations }),
    ...(Object.keys(fees).length === 0 ? {} : { fees }),
  }
  return isTold ? told : undefined
}

const fields = [
  66,
  authorizationsField,
  ...Object.values(feeFields),
  ...Object.values(totalFields).flatMap(({ count, cents }) => [count, cents]),
]
const getters = new Map(fields.map((de) => [de, createFieldGetter(de)]))

/** A field of a reconciliation: DE 66, or one of the totals or fees. */
export const textIn = (message: CardMessage, de: number): string | undefined => {
  const value = getters.get(de)?.(message)
  return value instanceof Uint8Array ? String.fromCharCode(...value) : value
}

/** The totals of a message; undefined if it has none. */
export const toldIn = (message: CardMessage): ToldTotals | undefined =>
  toldBy((de) => textIn(message, de))

/**
 * Whether all that the network told is what our book says.
 *
 * @param counts whether our book has the number of authorizations
 */
export const agree = (ours: Totals, theirs: ToldTotals, counts: boolean): boolean =>
  movementKinds.every((kind) => {
    const { count = ours[kind].count, cents = ours[kind].cents } = theirs[kind]
    return count === ours[kind].count && cents === ours[kind].cents
  }) &&
  (!counts ||
    theirs.authorizations === undefined ||
    theirs.authorizations === ours.authorizations) &&
  feesAgree(ours.fees, theirs.fees)

/** Totals as they are stored: amounts as text, which JSON keeps exactly. */
export type StoredTotals = Readonly<
  Record<MovementKind, { readonly count?: number | null; readonly cents?: string | null }>
> & { readonly authorizations?: number | null; readonly fees?: Fees<string> }

/** @param counts whether the number of authorizations is among them */
export const storedTotals = (
  { authorizations, fees, ...totals }: ToldTotals,
  counts: boolean,
): StoredTotals => {
  const of = (kind: MovementKind) => {
    const { count, cents } = totals[kind]
    return {
      ...(count === undefined ? {} : { count }),
      ...(cents === undefined ? {} : { cents: cents === null ? null : String(cents) }),
    }
  }
  return {
    ...byKind(of),
    ...(counts && authorizations !== undefined ? { authorizations } : {}),
    ...(fees === undefined ? {} : { fees: storedFees(fees) }),
  }
}

/** Our own as they were stored, which are all there. */
export const restoredTotals = (stored: StoredTotals): Totals => ({
  ...sumsFrom(
    movementKinds.map((kind) => {
      const { count, cents } = stored[kind]
      return { kind, count: count ?? 0, cents: BigInt(cents ?? 0) }
    }),
  ),
  authorizations: stored.authorizations ?? 0,
  fees: stored.fees && restoredFees(stored.fees),
})
