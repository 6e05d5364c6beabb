import { CodecError } from '#codecs/bytes'

/** DE 90: identifies the message that a reversal reverses. ISO 8583:1987, 4.3. */
type OriginalData = {
  readonly mti: string
  readonly stan: string
  readonly transmissionDateTime: string
  readonly acquirerId: string
  readonly forwarderId: string
}

/** The 42 digits of DE 90; the two institutions are filled with zeros on the left. */
export const formatOriginalData = (data: OriginalData): string =>
  digits('mti', data.mti, 4) +
  digits('stan', data.stan, 6) +
  digits('transmissionDateTime', data.transmissionDateTime, 10) +
  digits('acquirerId', data.acquirerId.padStart(11, '0'), 11) +
  digits('forwarderId', data.forwarderId.padStart(11, '0'), 11)

export const parseOriginalData = (text: string): OriginalData => {
  digits('90', text, 42)
  return {
    mti: text.slice(0, 4),
    stan: text.slice(4, 10),
    transmissionDateTime: text.slice(10, 20),
    acquirerId: text.slice(20, 31),
    forwarderId: text.slice(31),
  }
}

/** DE 95: amounts that replace the original ones. Amounts in minor units; fees with their sign, C or D. */
type ReplacementAmounts = {
  readonly transaction: bigint
  readonly settlement: bigint
  readonly transactionFee: string
  readonly settlementFee: string
}

export const formatReplacementAmounts = (amounts: ReplacementAmounts): string =>
  amount12('transaction', amounts.transaction) +
  amount12('settlement', amounts.settlement) +
  fee('transactionFee', amounts.transactionFee) +
  fee('settlementFee', amounts.settlementFee)

export const parseReplacementAmounts = (text: string): ReplacementAmounts => {
  if (!/^\d{24}[CD0]\d{8}[CD0]\d{8}$/.test(text)) refuse('95', '24 digits and two signed fees')
  return {
    transaction: BigInt(text.slice(0, 12)),
    settlement: BigInt(text.slice(12, 24)),
    transactionFee: text.slice(24, 33),
    settlementFee: text.slice(33),
  }
}

/** One of up to six additional amounts, DE 54: twenty characters each. */
export type AdditionalAmount = {
  readonly accountType: string
  readonly amountType: string
  readonly currency: string
  readonly sign: 'C' | 'D'
  readonly amount: bigint
}

const additionalAmountsMax = 6
const additionalAmountCharacters = 20
/** Account type, amount type, currency by number or by letters, sign, amount. */
const additionalAmountLayout = /^\d{4}(?:\d{3}|[A-Z]{3})[CD]\d{12}$/

export const parseAdditionalAmounts = (text: string): AdditionalAmount[] => {
  const groups = text.length / additionalAmountCharacters
  if (!Number.isInteger(groups) || groups < 1 || groups > additionalAmountsMax) {
    refuse('54', 'one to six groups of 20 characters')
  }
  return Array.from({ length: groups }, (_, index) => {
    const at = index * additionalAmountCharacters
    const group = additionalAmount(text.slice(at, at + additionalAmountCharacters), at)
    return {
      accountType: group.slice(0, 2),
      amountType: group.slice(2, 4),
      currency: group.slice(4, 7),
      sign: group.charAt(7) === 'C' ? 'C' : 'D',
      amount: BigInt(group.slice(8)),
    }
  })
}

/** The text of DE 54, by the same rules as for reading it. */
export const formatAdditionalAmounts = (amounts: readonly AdditionalAmount[]): string => {
  if (amounts.length < 1 || amounts.length > additionalAmountsMax) refuse('54', 'one to six groups')
  return amounts
    .map(({ accountType, amountType, currency, sign, amount }, index) => {
      const text = `${accountType}${amountType}${currency}${sign}${amount12('54', amount)}`
      return additionalAmount(text, index * additionalAmountCharacters)
    })
    .join('')
}

const additionalAmount = (group: string, offset: number): string => {
  if (!additionalAmountLayout.test(group)) {
    refuse('54', 'account and amount type of two digits, currency, sign C or D, amount', offset)
  }
  return group
}

/** Private data led by a bitmap, as Visa's DE 62 and 63: subfields of fixed length in bytes, by number. */
type BitmapLayout = {
  readonly bitmapBytes: number
  readonly lengths: Readonly<Record<number, number>>
}

/** Subfields present, by number; views into `bytes`. */
export const parseBitmapData = (
  bytes: Uint8Array,
  { bitmapBytes, lengths }: BitmapLayout,
  field = '62',
): ReadonlyMap<number, Uint8Array> => {
  if (bytes.length < bitmapBytes) refuse(field, 'it ends within its bitmap')
  const found = new Map<number, Uint8Array>()
  let at = bitmapBytes
  for (let bit = 1; bit <= bitmapBytes * 8; bit++) {
    if ((bytes[(bit - 1) >> 3]! & (0x80 >> ((bit - 1) & 7))) === 0) continue
    const length = lengths[bit]
    if (length === undefined) refuse(`${field}.${bit}`, 'the layout does not define it', at)
    if (at + length > bytes.length) refuse(`${field}.${bit}`, 'the data ends within it', at)
    found.set(bit, bytes.subarray(at, at + length))
    at += length
  }
  if (at !== bytes.length) refuse(field, 'bytes follow the last subfield', at)
  return found
}

const digits = (field: string, text: string, length: number): string => {
  if (text.length !== length || !/^\d*$/.test(text)) refuse(field, `${length} digits`)
  return text
}

const amount12 = (field: string, amount: bigint): string =>
  digits(field, amount.toString().padStart(12, '0'), 12)

const fee = (field: string, text: string): string => {
  if (!/^[CD0]\d{8}$/.test(text)) refuse(field, 'a sign and eight digits')
  return text
}

export function refuse(field: string, rule: string, offset = 0): never {
  throw new CodecError('iso8583_subelement', offset, `field ${field}: ${rule}`, { field, rule })
}
