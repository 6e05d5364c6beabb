import { CodecError } from '#codecs/bytes'
import { type CodePage, classOfType, cp037, cp1047, latin1 } from './characters.ts'
import { type Dialect, type Encoding, type FieldSpec, fieldMax } from './dialect.ts'

/** The form of a value on the wire. */
type Kind = 'text' | 'packed' | 'bytes' | 'hex' | 'signed_text' | 'signed_packed'

/** How a field's bytes are checked together with those of its neighbours: by a character class, or as below. */
export const checkAlone = 0
export const checkPacked = 64
export const checkNothing = 128

/** One data element as packer and parser use it. */
export type Field = {
  readonly de: number
  /** The parser refuses values that are not of the field's type. */
  readonly isChecked: boolean
  readonly type: FieldSpec['type']
  readonly kind: Kind
  /** The class that every character must have. */
  readonly characters: number
  /** Characters, digits or bytes, without the sign. */
  readonly max: number
  /** Half bytes on the wire for each of them. */
  readonly nibbles: number
  /** Bytes of the sign before them. */
  readonly signBytes: number
  readonly prefix: FieldSpec['prefix']
  /** Bytes of the length prefix; 0 for a fixed length. */
  readonly prefixBytes: number
  readonly prefixPage: CodePage
  readonly countsBytes: boolean
  readonly padsRight: boolean
  readonly padNibble: number
  readonly page: CodePage
  /** The bytes on the wire are the value: ASCII or Latin-1 text, and raw bytes. */
  readonly isPlain: boolean
  readonly check: number
  /** Characters of a full value, if packer and parser handle it in one go; else -1. */
  readonly whole: number
}

/** A dialect as packer and parser use it. */
export type Layout = {
  readonly dialect: Dialect
  /** By number. */
  readonly fields: readonly (Field | undefined)[]
  readonly mtiPage: CodePage
  readonly bitmapPage: CodePage
}

/** @param checked the fields whose characters the parser checks; all of them when not given */
export const compileLayout = (dialect: Dialect, checked?: ReadonlySet<number>): Layout => ({
  dialect,
  fields: Array.from({ length: fieldMax + 1 }, (_, de) => {
    const spec = dialect.fields[de]
    return spec === undefined ? undefined : fieldOf(de, spec, checked?.has(de) ?? true)
  }),
  mtiPage: dialect.mti === 'ebcdic' ? cp1047 : latin1,
  bitmapPage: dialect.bitmap === 'hex-ebcdic' ? cp1047 : latin1,
})

const fieldOf = (de: number, spec: FieldSpec, isChecked: boolean): Field => {
  const { type, max, prefix, prefixDigits } = spec
  const kind = kindOf(spec)
  const page = pageOf(spec.encoding)
  const isPlain = kind === 'bytes' || (kind === 'text' && page === latin1)
  const isEven = kind === 'packed' && type !== 'z' && max % 2 === 0
  const ofType = isPlain ? classOfType[type] || checkNothing : isEven ? checkPacked : checkAlone
  const together = isChecked ? ofType : checkNothing
  const check = prefixDigits === 0 ? together : checkAlone
  return {
    de,
    isChecked,
    type,
    kind,
    characters: classOfType[type],
    max,
    nibbles: kind.endsWith('packed') ? 1 : kind === 'hex' ? 4 : 2,
    signBytes: type === 'x+n' ? 1 : 0,
    prefix,
    prefixBytes: prefix === 'bcd' || prefix === 'binary' ? (prefixDigits + 1) >> 1 : prefixDigits,
    prefixPage: prefix === 'ebcdic' ? cp1047 : latin1,
    countsBytes: spec.unit === 'bytes',
    padsRight: spec.padSide === 'right',
    padNibble: spec.padNibble,
    page,
    isPlain,
    check,
    whole: check === checkAlone || check === checkNothing ? -1 : max,
  }
}

const kindOf = ({ type, encoding }: FieldSpec): Kind => {
  if (encoding === 'binary') return 'bytes'
  if (encoding === 'hex') return 'hex'
  const isPacked = encoding === 'bcd' || encoding === 'bcd-ebcdic'
  if (type === 'x+n') return isPacked ? 'signed_packed' : 'signed_text'
  return isPacked ? 'packed' : 'text'
}

const pageOf = (encoding: Encoding): CodePage => {
  if (encoding === 'ebcdic-037') return cp037
  return encoding === 'ebcdic' || encoding === 'bcd-ebcdic' ? cp1047 : latin1
}

/** Bytes on the wire for a value of `count` digits, characters or bytes. */
export const wireBytes = ({ signBytes, nibbles }: Field, count: number): number =>
  signBytes + ((count * nibbles + 1) >> 1)

/** Fields that may hold card data, PIN or keys, and so are wiped and not shown. */
export const secretFields: readonly number[] = [2, 34, 35, 36, 45, 48, 52, 53, 55, 96]

/** Throws an error that names the field, the place and the rule, never a value. Field 0 is the MTI, 1 the bitmap. */
export function refuse(code: string, de: number, offset: number, rule: string): never {
  const field = de === 0 ? 'mti' : de === 1 ? 'bitmap' : String(de)
  const label = de < 2 ? field : `field ${field}`
  throw new CodecError(code, offset, `${label}: ${rule}`, { field, rule })
}
