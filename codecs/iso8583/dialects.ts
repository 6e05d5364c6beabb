import type { Dialect, Encoding, FieldSpec, FieldType, Prefix } from './dialect.ts'

/** Number, type, maximum, digits of the length prefix (0: fixed), name. ISO 8583:1987, table 1. */
const TABLE: readonly (readonly [number, FieldType, number, number, string])[] = [
  [2, 'n', 19, 2, 'primary account number'],
  [3, 'n', 6, 0, 'processing code'],
  [4, 'n', 12, 0, 'amount, transaction'],
  [5, 'n', 12, 0, 'amount, settlement'],
  [6, 'n', 12, 0, 'amount, cardholder billing'],
  [7, 'n', 10, 0, 'transmission date and time'],
  [8, 'n', 8, 0, 'amount, cardholder billing fee'],
  [9, 'n', 8, 0, 'conversion rate, settlement'],
  [10, 'n', 8, 0, 'conversion rate, cardholder billing'],
  [11, 'n', 6, 0, 'system trace audit number (STAN)'],
  [12, 'n', 6, 0, 'time, local transaction'],
  [13, 'n', 4, 0, 'date, local transaction'],
  [14, 'n', 4, 0, 'date, expiration'],
  [15, 'n', 4, 0, 'date, settlement'],
  [16, 'n', 4, 0, 'date, conversion'],
  [17, 'n', 4, 0, 'date, capture'],
  [18, 'n', 4, 0, 'merchant type'],
  [19, 'n', 3, 0, 'country code, acquiring institution'],
  [20, 'n', 3, 0, 'country code, primary account number'],
  [21, 'n', 3, 0, 'country code, forwarding institution'],
  [22, 'n', 3, 0, 'point of service entry mode'],
  [23, 'n', 3, 0, 'card sequence number'],
  [24, 'n', 3, 0, 'network international identifier'],
  [25, 'n', 2, 0, 'point of service condition code'],
  [26, 'n', 2, 0, 'point of service PIN capture code'],
  [27, 'n', 1, 0, 'authorization identification response length'],
  [28, 'x+n', 8, 0, 'amount, transaction fee'],
  [29, 'x+n', 8, 0, 'amount, settlement fee'],
  [30, 'x+n', 8, 0, 'amount, transaction processing fee'],
  [31, 'x+n', 8, 0, 'amount, settlement processing fee'],
  [32, 'n', 11, 2, 'acquiring institution identification code'],
  [33, 'n', 11, 2, 'forwarding institution identification code'],
  [34, 'ans', 28, 2, 'primary account number, extended'],
  [35, 'z', 37, 2, 'track 2 data'],
  // Track 3 is type z in the standard; peers put free text in it.
  [36, 'ans', 104, 3, 'track 3 data'],
  [37, 'anp', 12, 0, 'retrieval reference number (RRN)'],
  [38, 'anp', 6, 0, 'authorization identification response'],
  [39, 'anp', 2, 0, 'response code'],
  [40, 'anp', 3, 0, 'service restriction code'],
  [41, 'ans', 8, 0, 'card acceptor terminal identification'],
  [42, 'ans', 15, 0, 'card acceptor identification code'],
  [43, 'ans', 40, 0, 'card acceptor name and location'],
  [44, 'ans', 25, 2, 'additional response data'],
  [45, 'ans', 76, 2, 'track 1 data'],
  [46, 'ans', 999, 3, 'additional data, ISO'],
  [47, 'ans', 999, 3, 'additional data, national'],
  [48, 'ans', 999, 3, 'additional data, private'],
  [49, 'anp', 3, 0, 'currency code, transaction'],
  [50, 'anp', 3, 0, 'currency code, settlement'],
  [51, 'anp', 3, 0, 'currency code, cardholder billing'],
  [52, 'b', 8, 0, 'PIN data'],
  [53, 'n', 16, 0, 'security related control information'],
  [54, 'ans', 120, 3, 'additional amounts'],
  [55, 'b', 999, 3, 'ICC data'],
  [56, 'ans', 999, 3, 'reserved, ISO'],
  [57, 'ans', 999, 3, 'reserved, national'],
  [58, 'ans', 999, 3, 'reserved, national'],
  [59, 'ans', 999, 3, 'reserved, national'],
  [60, 'ans', 999, 3, 'reserved, private'],
  [61, 'ans', 999, 3, 'reserved, private'],
  [62, 'ans', 999, 3, 'reserved, private'],
  [63, 'ans', 999, 3, 'reserved, private'],
  [64, 'b', 8, 0, 'message authentication code'],
  [66, 'n', 1, 0, 'settlement code'],
  [67, 'n', 2, 0, 'extended payment code'],
  [68, 'n', 3, 0, 'country code, receiving institution'],
  [69, 'n', 3, 0, 'country code, settlement institution'],
  [70, 'n', 3, 0, 'network management information code'],
  [71, 'n', 4, 0, 'message number'],
  [72, 'n', 4, 0, 'message number, last'],
  [73, 'n', 6, 0, 'date, action'],
  [74, 'n', 10, 0, 'credits, number'],
  [75, 'n', 10, 0, 'credits, reversal, number'],
  [76, 'n', 10, 0, 'debits, number'],
  [77, 'n', 10, 0, 'debits, reversal, number'],
  [78, 'n', 10, 0, 'transfer, number'],
  [79, 'n', 10, 0, 'transfer, reversal, number'],
  [80, 'n', 10, 0, 'inquiries, number'],
  [81, 'n', 10, 0, 'authorizations, number'],
  [82, 'n', 12, 0, 'credits, processing fee amount'],
  [83, 'n', 12, 0, 'credits, transaction fee amount'],
  [84, 'n', 12, 0, 'debits, processing fee amount'],
  [85, 'n', 12, 0, 'debits, transaction fee amount'],
  [86, 'n', 16, 0, 'credits, amount'],
  [87, 'n', 16, 0, 'credits, reversal, amount'],
  [88, 'n', 16, 0, 'debits, amount'],
  [89, 'n', 16, 0, 'debits, reversal, amount'],
  [90, 'n', 42, 0, 'original data elements'],
  [91, 'anp', 1, 0, 'file update code'],
  [92, 'anp', 2, 0, 'file security code'],
  [93, 'anp', 5, 0, 'response indicator'],
  [94, 'anp', 7, 0, 'service indicator'],
  [95, 'anp', 42, 0, 'replacement amounts'],
  [96, 'b', 16, 0, 'message security code'],
  [97, 'x+n', 16, 0, 'amount, net settlement'],
  [98, 'ans', 25, 0, 'payee'],
  [99, 'n', 11, 2, 'settlement institution identification code'],
  [100, 'n', 11, 2, 'receiving institution identification code'],
  [101, 'ans', 17, 2, 'file name'],
  [102, 'ans', 28, 2, 'account identification 1'],
  [103, 'ans', 28, 2, 'account identification 2'],
  [104, 'ans', 100, 3, 'transaction description'],
  [128, 'b', 8, 0, 'message authentication code'],
]

const PRIVATE_FIRST = 105
const PRIVATE_LAST = 127

type Style = {
  readonly text: Encoding
  readonly numeric: Encoding
  readonly bytes: Encoding
  readonly prefix: Prefix
  /** Where the filling nibble of an odd variable-length number is; of a fixed one it is left. */
  readonly variablePad: 'left' | 'right'
}

const encodingOf = (type: FieldType, style: Style): Encoding => {
  switch (type) {
    case 'b':
      return style.bytes
    case 'x+n':
      return style.text === 'ebcdic' ? 'bcd-ebcdic' : style.numeric
    case 'n':
    case 'z':
      return style.numeric
    case 'a':
    case 'an':
    case 'anp':
    case 'ans':
      return style.text
  }
}

const fieldsOf = (style: Style): Record<number, FieldSpec> => {
  const fields: Record<number, FieldSpec> = {}
  const add = (
    de: number,
    type: FieldType,
    max: number,
    prefixDigits: number,
    name: string,
  ): void => {
    fields[de] = {
      name,
      type,
      max: style.prefix === 'binary' && prefixDigits > 0 ? Math.min(max, 255) : max,
      // The one-byte prefix reaches 255, whatever the standard's number of L.
      prefixDigits: style.prefix === 'binary' && prefixDigits > 0 ? 2 : prefixDigits,
      encoding: encodingOf(type, style),
      prefix: style.prefix,
      unit: 'digits',
      padSide: prefixDigits > 0 ? style.variablePad : 'left',
      padNibble: 0,
    }
  }
  for (const row of TABLE) add(...row)
  for (let de = PRIVATE_FIRST; de <= PRIVATE_LAST; de++) add(de, 'ans', 999, 3, 'reserved')
  return fields
}

const asciiStyle: Style = {
  text: 'ascii',
  numeric: 'ascii',
  bytes: 'binary',
  prefix: 'ascii',
  variablePad: 'right',
}

/** ASCII fields, bitmap and type b as bytes. The default. */
export const ascii: Dialect = {
  name: 'ascii',
  version: '1987',
  mti: 'ascii',
  bitmap: 'binary',
  fixed128: false,
  fields: fieldsOf(asciiStyle),
}

const hexFields = fieldsOf({ ...asciiStyle, bytes: 'hex' })

/** ASCII throughout: bitmap and type b as hexadecimal digits, ICC data as text. */
export const asciiHex: Dialect = {
  ...ascii,
  name: 'ascii-hex',
  bitmap: 'hex',
  fields: {
    ...hexFields,
    55: { ...hexFields[55]!, type: 'ans', encoding: 'ascii' },
  },
}

/** Packed digits and length prefixes, text in ASCII, type b and bitmap as bytes. */
export const bcd: Dialect = {
  ...ascii,
  name: 'bcd',
  mti: 'bcd',
  fields: fieldsOf({ ...asciiStyle, numeric: 'bcd', prefix: 'bcd' }),
}

const ebcdicFields = fieldsOf({
  text: 'ebcdic',
  numeric: 'bcd',
  bytes: 'binary',
  prefix: 'binary',
  variablePad: 'left',
})
const asBytes = (de: number): FieldSpec => ({
  ...ebcdicFields[de]!,
  type: 'b',
  encoding: 'binary',
  unit: 'bytes',
})
const asNumber = (de: number): FieldSpec => ({ ...ebcdicFields[de]!, type: 'n', encoding: 'bcd' })

/** Like Visa's BASE I: packed digits, EBCDIC text, one binary byte of length, private fields raw. */
export const ebcdic: Dialect = {
  ...ascii,
  name: 'ebcdic',
  mti: 'bcd',
  fields: {
    ...ebcdicFields,
    22: { ...ebcdicFields[22]!, max: 4 },
    49: asNumber(49),
    50: asNumber(50),
    51: asNumber(51),
    60: asBytes(60),
    61: asBytes(61),
    62: asBytes(62),
    63: asBytes(63),
    104: { ...asBytes(104), max: 255 },
  },
}

/** The built-in dialects by name. */
export const dialects: Readonly<Record<string, Dialect>> = {
  ascii,
  'ascii-hex': asciiHex,
  bcd,
  ebcdic,
}
