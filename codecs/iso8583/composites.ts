import { bytesOfHex, cp1047, toHex } from './characters.ts'
import { parseBitmapData, refuse } from './subelements.ts'

/**
 * How a value inside a composite field lies on the wire. `bcd` packs digits, with a zero nibble before an odd number
 * of them; `hex` and `base64` are how bytes are written as text.
 */
export const entryEncodings = ['ascii', 'ebcdic', 'bcd', 'hex', 'base64'] as const
type EntryEncoding = (typeof entryEncodings)[number]

/**
 * - `tlv`: identifier, length of the value, value, all as characters
 * - `ltv`: length of identifier and value, identifier, value
 * - `bitmap`: a bitmap, then those of the entries that it announces, each of a fixed length
 * - `fixed`: all entries by position, each of a fixed length
 */
export const compositeShapes = ['tlv', 'ltv', 'bitmap', 'fixed'] as const
type CompositeShape = (typeof compositeShapes)[number]

/**
 * One value of a composite field, or a composite itself.
 *
 * @property id - its name on the wire: digits of the identifier, or the number of its bit
 * @property length - characters, digits (bcd) or bytes (hex, base64) where it is fixed
 * @property pad - a shorter value gets zeros on its left, or blanks on its right
 * @property isSensitive - never shown
 * @property source - where its value comes from; undefined if only others send it
 */
export type CompositeEntry<Source> = {
  readonly id: string
  readonly name: string
  readonly encoding: EntryEncoding
  readonly length: number | undefined
  readonly pad: 'zeros' | 'blanks'
  readonly isSensitive: boolean
  readonly source: Source | undefined
  readonly composite: Composite<Source> | undefined
}

/**
 * The content of a private field, as two parties agreed on it.
 *
 * @property leading - characters before the first entry
 * @property idDigits - of identifiers: `tlv`, `ltv`
 * @property lengthDigits - of lengths: `tlv`, `ltv`
 * @property lengthEncoding - of lengths: `ltv`
 * @property bitmapBytes - `bitmap`
 */
export type Composite<Source> = {
  readonly shape: CompositeShape
  readonly leading: string
  readonly idDigits: number
  readonly lengthDigits: number
  readonly lengthEncoding: 'ascii' | 'bcd'
  readonly bitmapBytes: number
  readonly entries: readonly CompositeEntry<Source>[]
}

/** An entry as it came; unknown ones have no name. */
export type ReadEntry = {
  readonly id: string
  readonly isKnown: boolean
  readonly name: string
  /** Text; bytes as hexadecimal digits, or as base64 where they are written from that. */
  readonly value: string
  readonly isSensitive: boolean
  readonly entries: readonly ReadEntry[]
}

/** Gives the text of a value; undefined leaves its entry out. */
type ValueOf<Facts> = (facts: Facts) => string | undefined

/** Each character of the result is a byte; undefined if there is nothing to write. */
type Write<Facts> = (facts: Facts) => string | undefined

/**
 * Compiles a writer. An entry without a value is left out with its identifier and length, in `fixed` it is filled; a
 * composite that has no value at all is left out whole.
 *
 * @throws CodecError `iso8583_subelement`, from the writer, for a value that does not fit
 */
export const createCompositeWriter = <Facts>(
  composite: Composite<ValueOf<Facts>>,
  field: string,
): ((facts: Facts) => Uint8Array | undefined) => {
  const write = writerOf(composite, field)
  return (facts) => {
    const text = write(facts)
    return text === undefined ? undefined : bytesOf(text)
  }
}

const writerOf = <Facts>(composite: Composite<ValueOf<Facts>>, field: string): Write<Facts> => {
  const entries = composite.entries.flatMap((entry) => {
    const write = entryWriter(entry, `${field}.${entry.id}`)
    return write === undefined ? [] : [{ entry, write }]
  })
  const { shape, leading } = composite
  if (shape === 'fixed') return fixedWriter(composite, field)
  if (shape === 'bitmap') return bitmapWriter(composite.bitmapBytes, entries)
  return (facts) => {
    let out = ''
    for (const { entry, write } of entries) {
      const value = write(facts)
      if (value !== undefined) out += headed(composite, entry.id, value, field)
    }
    return out === '' ? undefined : leading + out
  }
}

const entryWriter = <Facts>(
  entry: CompositeEntry<ValueOf<Facts>>,
  field: string,
): Write<Facts> | undefined => {
  const { composite, source } = entry
  if (composite !== undefined) return writerOf(composite, field)
  if (source === undefined) return undefined
  return (facts) => {
    const text = source(facts)
    return text === undefined ? undefined : encoded(entry, text, field)
  }
}

const headed = (
  { shape, lengthDigits, lengthEncoding }: Composite<unknown>,
  id: string,
  value: string,
  field: string,
): string => {
  const counted = shape === 'ltv' ? id.length + value.length : value.length
  const digits = String(counted).padStart(lengthDigits, '0')
  if (digits.length > lengthDigits) refuse(`${field}.${id}`, 'too long for its length')
  if (shape === 'tlv') return id + digits + value
  return (lengthEncoding === 'bcd' ? packed(digits) : digits) + id + value
}

const bitmapWriter =
  <Facts>(
    bitmapBytes: number,
    entries: readonly {
      readonly entry: CompositeEntry<unknown>
      readonly write: Write<Facts>
    }[],
  ): Write<Facts> =>
  (facts) => {
    const bits = new Uint8Array(bitmapBytes)
    let out = ''
    for (const { entry, write } of entries) {
      const value = write(facts)
      if (value === undefined) continue
      const bit = Number(entry.id) - 1
      bits[bit >> 3]! |= 0x80 >> (bit & 7)
      out += value
    }
    return out === '' ? undefined : textOf(bits) + out
  }

const fixedWriter = <Facts>(
  { leading, entries }: Composite<ValueOf<Facts>>,
  field: string,
): Write<Facts> => {
  const writers = entries.map((entry) => ({
    write: entryWriter(entry, `${field}.${entry.id}`) ?? (() => undefined),
    empty: emptyOf(entry),
  }))
  return (facts) => {
    let out = ''
    let isThere = false
    for (const { write, empty } of writers) {
      const value = write(facts)
      if (value !== undefined) isThere = true
      out += value ?? empty
    }
    return isThere ? leading + out : undefined
  }
}

/** The text that fills a fixed place without a value. */
const emptyOf = (entry: CompositeEntry<unknown>): string => {
  const { encoding, length = 0, pad } = entry
  const isBytes = encoding === 'hex' || encoding === 'base64'
  if (isBytes) return '\0'.repeat(length)
  return encoded(entry, encoding === 'bcd' || pad === 'zeros' ? '0'.repeat(length) : '', entry.id)
}

const encoded = (
  { encoding, length, pad }: CompositeEntry<unknown>,
  text: string,
  field: string,
): string => {
  if (encoding === 'hex' || encoding === 'base64') {
    const bytes = encoding === 'hex' ? fromHex(text, field) : fromBase64(text, field)
    if (length !== undefined && bytes.length !== length) refuse(field, `exactly ${length} bytes`)
    return bytes
  }
  const isZeros = pad === 'zeros' || encoding === 'bcd'
  const whole = length === undefined ? text : padded(text, length, isZeros)
  if (length !== undefined && whole.length > length) refuse(field, `at most ${length} characters`)
  if (encoding === 'bcd') {
    if (!/^\d*$/.test(whole)) refuse(field, 'digits')
    return packed(whole)
  }
  return encoding === 'ebcdic' ? translated(whole) : whole
}

const padded = (text: string, length: number, isZeros: boolean): string =>
  isZeros ? text.padStart(length, '0') : text.padEnd(length, ' ')

const packed = (digits: string): string => {
  const even = digits.length % 2 === 0 ? digits : `0${digits}`
  let out = ''
  for (let at = 0; at < even.length; at += 2) {
    out += String.fromCharCode(Number.parseInt(even.slice(at, at + 2), 16))
  }
  return out
}

const fromHex = (text: string, field: string): string =>
  textOf(bytesOfHex(text) ?? refuse(field, 'hexadecimal digits of whole bytes'))

const fromBase64 = (text: string, field: string): string => {
  try {
    return atob(text)
  } catch {
    return refuse(field, 'base64')
  }
}

const translated = (text: string): string => {
  let out = ''
  for (let at = 0; at < text.length; at++) {
    out += String.fromCharCode(cp1047.encode[text.charCodeAt(at) & 255]!)
  }
  return out
}

const bytesOf = (text: string): Uint8Array => {
  const bytes = new Uint8Array(text.length)
  for (let at = 0; at < text.length; at++) bytes[at] = text.charCodeAt(at)
  return bytes
}

const textOf = (bytes: Uint8Array): string => {
  let text = ''
  for (const byte of bytes) text += String.fromCharCode(byte)
  return text
}

/**
 * The entries of a composite field, unknown ones too, in their order.
 *
 * @throws CodecError `iso8583_subelement`
 */
export const readComposite = (
  bytes: Uint8Array,
  composite: Composite<unknown>,
  field: string,
): readonly ReadEntry[] => {
  const { shape, leading } = composite
  if (shape === 'bitmap') return readBitmap(bytes, composite, field)
  if (bytes.length < leading.length) refuse(field, 'it ends before the first entry')
  const rest = bytes.subarray(leading.length)
  return shape === 'fixed' ? readFixed(rest, composite, field) : readHeaded(rest, composite, field)
}

const readHeaded = (
  bytes: Uint8Array,
  { shape, idDigits, lengthDigits, lengthEncoding, entries }: Composite<unknown>,
  field: string,
): readonly ReadEntry[] => {
  const found: ReadEntry[] = []
  const isPacked = shape === 'ltv' && lengthEncoding === 'bcd'
  const lengthBytes = isPacked ? (lengthDigits + 1) >> 1 : lengthDigits
  let at = 0
  while (at < bytes.length) {
    const lengthAt = shape === 'tlv' ? at + idDigits : at
    const idAt = shape === 'tlv' ? at : at + lengthBytes
    const length = lengthIn(bytes.subarray(lengthAt, lengthAt + lengthBytes), lengthBytes, {
      isPacked,
      refuseIt: () => refuse(field, 'identifier and length', at),
    })
    const start = at + idDigits + lengthBytes
    const end = shape === 'tlv' ? start + length : idAt + length
    if (end > bytes.length || end < start) refuse(field, 'it ends within an entry', at)
    const id = textOf(bytes.subarray(idAt, idAt + idDigits))
    const known = entries.find((entry) => entry.id === id)
    found.push(readEntry(bytes.subarray(start, end), id, known, field))
    at = end
  }
  return found
}

const lengthIn = (
  bytes: Uint8Array,
  count: number,
  { isPacked, refuseIt }: { readonly isPacked: boolean; readonly refuseIt: () => never },
): number => {
  const digits = isPacked ? toHex(bytes) : textOf(bytes)
  if (bytes.length !== count || !/^\d+$/.test(digits)) refuseIt()
  return Number(digits)
}

const wireLength = ({ encoding, length = 0 }: CompositeEntry<unknown>): number =>
  encoding === 'bcd' ? (length + 1) >> 1 : length

const readFixed = (
  bytes: Uint8Array,
  { entries }: Composite<unknown>,
  field: string,
): readonly ReadEntry[] => {
  const found: ReadEntry[] = []
  let at = 0
  for (const entry of entries) {
    // Networks leave out places at the end.
    if (at === bytes.length) break
    const end = at + wireLength(entry)
    if (end > bytes.length) refuse(`${field}.${entry.id}`, 'the data ends within it', at)
    found.push(readEntry(bytes.subarray(at, end), entry.id, entry, field))
    at = end
  }
  if (at < bytes.length) refuse(field, 'bytes follow the last place', at)
  return found
}

const readBitmap = (
  bytes: Uint8Array,
  { bitmapBytes, entries }: Composite<unknown>,
  field: string,
): readonly ReadEntry[] => {
  const lengths = Object.fromEntries(entries.map((entry) => [entry.id, wireLength(entry)]))
  const values = parseBitmapData(bytes, { bitmapBytes, lengths }, field)
  return entries.flatMap((entry) => {
    const value = values.get(Number(entry.id))
    return value === undefined ? [] : [readEntry(value, entry.id, entry, field)]
  })
}

const readEntry = (
  bytes: Uint8Array,
  id: string,
  entry: CompositeEntry<unknown> | undefined,
  field: string,
): ReadEntry => {
  const { name = '', isSensitive = false, composite } = entry ?? {}
  const entries = composite === undefined ? [] : readComposite(bytes, composite, `${field}.${id}`)
  const isKnown = entry !== undefined
  return { id, isKnown, name, value: decoded(bytes, entry), isSensitive, entries }
}

/** The text that is written as these bytes. */
const decoded = (bytes: Uint8Array, entry: CompositeEntry<unknown> | undefined): string => {
  const { encoding = 'ascii', length = 0 } = entry ?? {}
  if (encoding === 'ascii') return textOf(bytes)
  if (encoding === 'ebcdic') return textOf(bytes.map((byte) => cp1047.decode[byte] ?? 0))
  if (encoding === 'base64') return btoa(textOf(bytes))
  const digits = toHex(bytes)
  const isFilled = encoding === 'bcd' && length % 2 === 1 && digits.length === length + 1
  return isFilled && digits.startsWith('0') ? digits.slice(1) : digits
}
