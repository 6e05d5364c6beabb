import type { Dialect, Encoding, FieldSpec, FieldType, Prefix } from './dialect.ts'
import { type FieldRow, fields1987, fields1993 } from './tables.ts'

type Style = {
  readonly text: Encoding
  readonly numeric: Encoding
  readonly bytes: Encoding
  readonly prefix: Prefix
  /** The side of the filling nibble in an odd variable-length number; in a fixed one it is always left. */
  readonly variablePad: 'left' | 'right'
}

const encodingOf = (type: FieldType, style: Style): Encoding => {
  if (type === 'b') return style.bytes
  if (type === 'x+n' && style.text === 'ebcdic') return 'bcd-ebcdic'
  return type === 'n' || type === 'z' || type === 'x+n' ? style.numeric : style.text
}

const fieldsOf = (table: readonly FieldRow[], style: Style): Record<number, FieldSpec> => {
  const { prefix, variablePad } = style
  return Object.fromEntries(
    table.map(([de, type, max, digits, name]): [number, FieldSpec] => {
      // The one-byte prefix reaches 255, even where the standard says LLLVAR.
      const isOneByte = prefix === 'binary' && digits > 0
      const spec: FieldSpec = {
        name,
        type,
        max: isOneByte ? Math.min(max, 255) : max,
        prefixDigits: isOneByte ? 2 : digits,
        encoding: encodingOf(type, style),
        prefix,
        unit: 'digits',
        padSide: digits > 0 ? variablePad : 'left',
        padNibble: 0,
      }
      return [de, spec]
    }),
  )
}

const asciiStyle: Style = {
  text: 'ascii',
  numeric: 'ascii',
  bytes: 'binary',
  prefix: 'ascii',
  variablePad: 'right',
}

const bcdStyle: Style = { ...asciiStyle, numeric: 'bcd', prefix: 'bcd' }

/** ASCII fields, bitmap and type b as bytes. The default. */
const ascii: Dialect = {
  name: 'ascii',
  version: '1987',
  mti: 'ascii',
  bitmap: 'binary',
  fixed128: false,
  marksSecond: true,
  fields: fieldsOf(fields1987, asciiStyle),
}

const hexFields = fieldsOf(fields1987, { ...asciiStyle, bytes: 'hex' })

/** ASCII throughout: bitmap and type b as hexadecimal digits, ICC data as text. */
const asciiHex: Dialect = {
  ...ascii,
  name: 'ascii-hex',
  bitmap: 'hex',
  fields: {
    ...hexFields,
    55: { ...hexFields[55]!, type: 'ans', encoding: 'ascii' },
  },
}

/** Packed digits and length prefixes, text in ASCII, type b and bitmap as bytes. */
const bcd: Dialect = {
  ...ascii,
  name: 'bcd',
  mti: 'bcd',
  fields: fieldsOf(fields1987, bcdStyle),
}

const ebcdicFields = fieldsOf(fields1987, {
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
const ebcdic: Dialect = {
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

/** Like `ascii`, with the fields of 1993. */
const ascii1993: Dialect = {
  ...ascii,
  name: 'ascii-1993',
  version: '1993',
  fields: fieldsOf(fields1993, asciiStyle),
}

const hexFields1993 = fieldsOf(fields1993, { ...asciiStyle, bytes: 'hex' })

/** As `ascii-hex`, with the fields of 1993; ICC data is two hexadecimal digits for each byte. */
const asciiHex1993: Dialect = {
  ...ascii1993,
  name: 'ascii-hex-1993',
  bitmap: 'hex',
  // Three digits of length count at most 499 bytes of two digits.
  fields: { ...hexFields1993, 96: { ...hexFields1993[96]!, max: 499 } },
}

/** Like `bcd`, with the fields of 1993. */
const bcd1993: Dialect = {
  ...ascii1993,
  name: 'bcd-1993',
  mti: 'bcd',
  fields: fieldsOf(fields1993, bcdStyle),
}

/** The built-in dialects by name. */
export const dialects: Readonly<Record<string, Dialect>> = {
  ascii,
  'ascii-hex': asciiHex,
  bcd,
  ebcdic,
  'ascii-1993': ascii1993,
  'ascii-hex-1993': asciiHex1993,
  'bcd-1993': bcd1993,
}
