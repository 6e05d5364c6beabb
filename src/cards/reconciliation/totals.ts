import { type CardMessage, createFieldGetter } from '#codecs/iso8583'

/** What moved in one business day of one network in one currency: pure. */

/** How many, and their sum in minor units. */
type Sum = { readonly count: number; readonly cents: bigint }

/** A debit is a sale, a credit a refund: they move money from the holder, and to the holder. */
export const movementKinds = [
  ...(['credit', 'credit_reversal', 'debit', 'debit_reversal'] as const),
] as const
export type MovementKind = (typeof movementKinds)[number]

export type Totals = Readonly<Record<MovementKind, Sum>>

/** What a network told of its own book: undefined is what it did not tell, null what cannot be read. */
type Told = { readonly count?: number | null; readonly cents?: bigint | null }
export type ToldTotals = Readonly<Record<MovementKind, Told>>

/** The data elements of number (n 10) and amount (n 16) of each. */
export const totalFields: Readonly<
  Record<MovementKind, { readonly count: number; readonly cents: number }>
> = {
  credit: { count: 74, cents: 86 },
  credit_reversal: { count: 75, cents: 87 },
  debit: { count: 76, cents: 88 },
  debit_reversal: { count: 77, cents: 89 },
}

const nothing: Sum = { count: 0, cents: 0n }

export const totalsFrom = (
  rows: readonly { readonly kind: MovementKind; readonly count: number; readonly cents: bigint }[],
): Totals => {
  const of = (kind: MovementKind): Sum => {
    const { count, cents } = rows.find((row) => row.kind === kind) ?? nothing
    return { count, cents }
  }
  return {
    ...{ credit: of('credit'), credit_reversal: of('credit_reversal') },
    ...{ debit: of('debit'), debit_reversal: of('debit_reversal') },
  }
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
  const told = {
    ...{ credit: of('credit'), credit_reversal: of('credit_reversal') },
    ...{ debit: of('debit'), debit_reversal: of('debit_reversal') },
  }
  return isTold ? told : undefined
}

const fields = [66, ...Object.values(totalFields).flatMap(({ count, cents }) => [count, cents])]
const getters = new Map(fields.map((de) => [de, createFieldGetter(de)]))

/** A field of a reconciliation: DE 66, or one of the totals. */
export const textIn = (message: CardMessage, de: number): string | undefined => {
  const value = getters.get(de)?.(message)
  return value instanceof Uint8Array ? String.fromCharCode(...value) : value
}

/** The totals of a message; undefined if it has none. */
export const toldIn = (message: CardMessage): ToldTotals | undefined =>
  toldBy((de) => textIn(message, de))

/** Whether all that the network told is what our book says. */
export const agree = (ours: Totals, theirs: ToldTotals): boolean =>
  movementKinds.every((kind) => {
    const { count = ours[kind].count, cents = ours[kind].cents } = theirs[kind]
    return count === ours[kind].count && cents === ours[kind].cents
  })

/** As it is stored: amounts as text, which JSON keeps exactly. */
export type StoredTotals = Readonly<
  Record<MovementKind, { readonly count?: number | null; readonly cents?: string | null }>
>

export const storedTotals = (totals: ToldTotals): StoredTotals => {
  const of = ({ count, cents }: Told) => ({
    ...(count === undefined ? {} : { count }),
    ...(cents === undefined ? {} : { cents: cents === null ? null : String(cents) }),
  })
  return {
    ...{ credit: of(totals.credit), credit_reversal: of(totals.credit_reversal) },
    ...{ debit: of(totals.debit), debit_reversal: of(totals.debit_reversal) },
  }
}

/** Our own as they were stored, which are all there. */
export const restoredTotals = (stored: StoredTotals): Totals =>
  totalsFrom(
    movementKinds.map((kind) => {
      const { count, cents } = stored[kind]
      return { kind, count: count ?? 0, cents: BigInt(cents ?? 0) }
    }),
  )
