import { CodecError } from '#codecs/bytes'
import { type CodePage, classOfType, cp037, cp1047, latin1 } from './characters.ts'
import { type Dialect, type Encoding, type FieldSpec, fieldMax } from './dialect.ts'

/** Kinds of value on the wire, as the compiled tables name them. */
export const absent = 0
export const textForm = 1
export const packedForm = 2
export const bytesForm = 3
export const hex = 4
export const signedText = 5
export const signedPacked = 6

/** Kinds of length prefix. */
export const prefixNone = 0
export const prefixDigits = 1
export const prefixBcd = 2
export const prefixBinary = 3

/** A length that no value has. */
const noLength = 65_535

/** A dialect as flat tables, indexed by field number. */
export type Layout = {
  readonly dialect: Dialect
  readonly kind: Uint8Array
  readonly classes: Uint8Array
  readonly max: Uint16Array
  readonly prefix: Uint8Array
  /** Bytes of the length prefix on the wire. */
  readonly prefixBytes: Uint8Array
  readonly countsBytes: Uint8Array
  readonly padRight: Uint8Array
  readonly padNibble: Uint8Array
  readonly track: Uint8Array
  /** 1 where the bytes on the wire are the value: ASCII or Latin-1 text, and raw bytes. */
  readonly plain: Uint8Array
  /** Characters of Latin-1 text of fixed length; `noLength` for all others. */
  readonly plainLength: Uint16Array
  /** The same of packed digits of fixed length. */
  readonly packedLength: Uint16Array
  readonly pages: readonly (CodePage | undefined)[]
  readonly prefixPages: readonly (CodePage | undefined)[]
  readonly mtiPage: CodePage
  readonly bitmapPage: CodePage
}

export const compileLayout = (dialect: Dialect): Layout => {
  const size = fieldMax + 1
  const pages: (CodePage | undefined)[] = new Array(size).fill(undefined)
  const prefixPages: (CodePage | undefined)[] = new Array(size).fill(undefined)
  const layout: Layout = {
    dialect,
    kind: new Uint8Array(size),
    classes: new Uint8Array(size),
    max: new Uint16Array(size),
    prefix: new Uint8Array(size),
    prefixBytes: new Uint8Array(size),
    countsBytes: new Uint8Array(size),
    padRight: new Uint8Array(size),
    padNibble: new Uint8Array(size),
    track: new Uint8Array(size),
    plain: new Uint8Array(size),
    plainLength: new Uint16Array(size).fill(noLength),
    packedLength: new Uint16Array(size).fill(noLength),
    pages,
    prefixPages,
    mtiPage: dialect.mti === 'ebcdic' ? cp1047 : latin1,
    bitmapPage: dialect.bitmap === 'hex-ebcdic' ? cp1047 : latin1,
  }
  for (let de = 2; de < size; de++) {
    const spec = dialect.fields[de]
    if (spec === undefined) continue
    layout.kind[de] = kindOf(spec)
    layout.classes[de] = classOfType[spec.type]
    layout.max[de] = spec.max
    layout.countsBytes[de] = spec.unit === 'bytes' ? 1 : 0
    layout.padRight[de] = spec.padSide === 'right' ? 1 : 0
    layout.padNibble[de] = spec.padNibble
    layout.track[de] = spec.type === 'z' ? 1 : 0
    const page = pageOf(spec.encoding)
    pages[de] = page
    const isText = layout.kind[de] === textForm && page === latin1
    layout.plain[de] = isText || layout.kind[de] === bytesForm ? 1 : 0
    prefixPages[de] = spec.prefix === 'ebcdic' ? cp1047 : latin1
    if (spec.prefixDigits === 0) {
      if (isText) layout.plainLength[de] = spec.max
      if (layout.kind[de] === packedForm && spec.type !== 'z') layout.packedLength[de] = spec.max
      continue
    }
    layout.prefix[de] =
      spec.prefix === 'bcd' ? prefixBcd : spec.prefix === 'binary' ? prefixBinary : prefixDigits
    layout.prefixBytes[de] =
      spec.prefix === 'bcd'
        ? (spec.prefixDigits + 1) >> 1
        : spec.prefix === 'binary'
          ? spec.prefixDigits <= 2
            ? 1
            : 2
          : spec.prefixDigits
  }
  return layout
}

/** Fields whose values never become strings on the way to a typed message: PAN, tracks, PIN. */
export const isSecretField = (de: number): boolean =>
  de === 2 || de === 35 || de === 45 || de === 52

const kindOf = (spec: FieldSpec): number => {
  if (spec.encoding === 'binary') return bytesForm
  if (spec.encoding === 'hex') return hex
  const packed = spec.encoding === 'bcd' || spec.encoding === 'bcd-ebcdic'
  if (spec.type === 'x+n') return packed ? signedPacked : signedText
  return packed ? packedForm : textForm
}

const pageOf = (encoding: Encoding): CodePage => {
  switch (encoding) {
    case 'ebcdic':
    case 'bcd-ebcdic':
      return cp1047
    case 'ebcdic-037':
      return cp037
    case 'ascii':
    case 'bcd':
    case 'binary':
    case 'hex':
      return latin1
  }
}

/** Bytes on the wire of a value of `count` digits, characters or bytes. */
export const wireBytes = (kind: number, count: number): number => {
  switch (kind) {
    case packedForm:
      return (count + 1) >> 1
    case hex:
      return count * 2
    case signedPacked:
      return 1 + (count >> 1)
    case signedText:
      return 1 + count
    default:
      return count
  }
}

/** Refuses: names the field, the place and the rule, never a value. Field 0 is the MTI, 1 the bitmap. */
export function refuse(code: string, de: number, offset: number, rule: string): never {
  const field = de === 0 ? 'mti' : de === 1 ? 'bitmap' : String(de)
  const label = de < 2 ? field : `field ${field}`
  throw new CodecError(code, offset, `${label}: ${rule}`, { field, rule })
}
