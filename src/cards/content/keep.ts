import { CodecError } from '#codecs/bytes'
import {
  bytesOfHex,
  type Composite,
  type CompositeEntry,
  createPacker,
  type Dialect,
  type ReadEntry,
  readComposite,
} from '#codecs/iso8583'
import { storable } from '../text.ts'
import { hasSensitive } from './composite.ts'
import type { CompositeForm, ContentForm } from './form.ts'
import { ContentError, lengthMaxOf, messageBytesMax } from './leaf.ts'
import { headBytes, writtenBytes } from './room.ts'
import { type AcquirerNumbers, keptPrefix } from './sources.ts'

/** A value may be as long as this; what is longer is no identifier. */
const keptCharactersMax = 64

type Encoding = CompositeEntry<unknown>['encoding']

/** Takes from answers what later messages repeat. */
export type Keeper = {
  /** The fields that answers are read for. */
  readonly fields: ReadonlySet<number>
  /** @param holdsNumber whether a text holds the card number of the payment, which is kept nowhere */
  readonly keep: (
    fieldOf: (de: number) => Uint8Array | undefined,
    holdsNumber: (text: string) => boolean,
  ) => Kept
}

type Kept = {
  /** The values by name; undefined if the answer has none of them. */
  readonly values: Readonly<Record<string, string>> | undefined
  /** Names of what the answer has, but not in the form of its place, or with the card number in it. */
  readonly unread: readonly string[]
}

/** Where a kept value was read. */
export type KeptPlace = {
  /** A value as long as the place lets it be. */
  readonly sample: string
  /**
   * Whether a value is of the form of the place. What comes in another is not kept, and what was kept before the
   * network's file, or we, said otherwise is not sent.
   */
  readonly takes: (text: string) => boolean
}

/** The place of each name. */
export const keptPlaces = (
  content: ContentForm | undefined,
  dialect: Dialect,
  acquirer: AcquirerNumbers,
): ReadonlyMap<string, KeptPlace> =>
  new Map(
    Object.entries(content?.keep ?? {}).map(([name, { field, path = [] }]) => {
      const spec = dialect.fields[field]
      const max = spec === undefined ? keptCharactersMax : lengthMaxOf(spec)
      const form: Form =
        path.length === 0
          ? { encoding: encodingOf(field, dialect), length: max, isFixed: spec?.prefixDigits === 0 }
          : entryForm(content?.composites[field], path, max, othersOf(name, acquirer))
      const sign = path.length === 0 && spec?.type === 'x+n' ? 'D' : ''
      const sample = (sign + textOf(form.encoding, form.length - sign.length)).slice(
        0,
        keptCharactersMax,
      )
      const isCarried = carrierOf(field, form, dialect)
      return [name, { sample, takes: (text) => isOfPlace(text, form) && isCarried(text) }]
    }),
  )

/** Whether a field carries the characters of a text: those of an answer are not checked when it is read. */
const carrierOf = (
  field: number,
  { encoding }: Form,
  dialect: Dialect,
): ((text: string) => boolean) => {
  const spec = dialect.fields[field]
  if (spec === undefined || spec.type === 'b' || encoding !== 'ascii') return () => true
  const packer = createPacker(dialect)
  const out = new Uint8Array(messageBytesMax)
  return (text) => {
    try {
      packer.pack('0100', { [field]: text }, out)
      return true
    } catch (error) {
      if (!(error instanceof CodecError)) throw error
      return false
    }
  }
}

type Form = {
  readonly encoding: Encoding
  readonly length: number
  readonly isFixed: boolean
}

/** Bytes that the other entries of a composite need beside that one, where it sends the kept value of that name again. */
const othersOf =
  (name: string, acquirer: AcquirerNumbers) =>
  (composite: CompositeForm, id: string): number => {
    const { entries = [] } = composite
    const isSent = entries.some((one) => one.id === id && sends(one, keptPrefix + name))
    if (!isSent) return 0
    const others = entries.filter((one) => one.id !== id)
    return others.reduce((sum, one) => sum + (writtenBytes(one, composite, acquirer) ?? 0), 0)
  }

const sends = (form: CompositeForm, source: string): boolean =>
  form.from === source || (form.entries ?? []).some((one) => sends(one, source))

/** An entry without a length has what is left of the bytes around it, with two digits in each where they are packed. */
const entryForm = (
  composite: CompositeForm | undefined,
  [id = '', ...rest]: readonly string[],
  bytesMax: number,
  others: (composite: CompositeForm, id: string) => number,
): Form => {
  const entry = composite?.entries?.find((one) => one.id === id)
  const { encoding = 'ascii', length } = entry ?? {}
  const room =
    composite === undefined ? bytesMax : roomIn(composite, bytesMax - others(composite, id))
  if (rest.length > 0) return entryForm(entry, rest, length ?? room, others)
  const isFixed = length !== undefined
  return { encoding, length: length ?? (encoding === 'bcd' ? room * 2 : room), isFixed }
}

/** Bytes for a value behind its identifier and length, which has to be able to tell them. */
const roomIn = (form: CompositeForm, bytesMax: number): number => {
  const { shape, leading = '', id_digits: idDigits = 0, length_digits: lengthDigits = 0 } = form
  const toldMax = 10 ** lengthDigits - 1 - (shape === 'ltv' ? idDigits : 0)
  return Math.max(0, Math.min(bytesMax - leading.length - headBytes(form), toldMax))
}

/** A whole field of bytes is kept as the digits that such a field is written from. */
const encodingOf = (field: number, { fields }: Dialect): Encoding =>
  fields[field]?.type === 'b' ? 'hex' : 'ascii'

/** A sample that fills a place of this many characters, digits or bytes. */
const textOf = (encoding: Encoding, length: number): string =>
  encoding === 'base64'
    ? btoa('9'.repeat(length))
    : '9'.repeat(encoding === 'hex' ? length * 2 : length)

const digitsForm = /^\d*$/

/** Bytes have the length of a fixed place; text and digits are filled up to it, and never longer. */
const isOfPlace = (text: string, { encoding, length, isFixed }: Form): boolean => {
  if (text.length > keptCharactersMax || storable(text) === undefined) return false
  if (encoding !== 'hex' && encoding !== 'base64') {
    return text.length <= length && (encoding !== 'bcd' || digitsForm.test(text))
  }
  const bytes = encoding === 'hex' ? bytesOfHex(text)?.length : bytesOfBase64(text)
  return bytes !== undefined && (isFixed ? bytes === length : bytes <= length)
}

/** How many; undefined if it is no base64 as it is kept. */
const bytesOfBase64 = (text: string): number | undefined => {
  const bytes = Buffer.from(text, 'base64')
  return bytes.toString('base64') === text ? bytes.length : undefined
}

type Wanted = {
  readonly name: string
  readonly field: number
  readonly path: readonly string[]
  readonly composite: Composite<unknown> | undefined
  readonly encoding: Encoding
  readonly takes: KeptPlace['takes']
}

/**
 * @param places what `keptPlaces` gives for the same names
 * @throws ContentError
 */
export const createKeeper = (
  keep: ContentForm['keep'],
  places: ReadonlyMap<string, KeptPlace>,
  composites: ReadonlyMap<number, Composite<unknown>>,
  dialect: Dialect,
): Keeper | undefined => {
  const all = Object.entries(keep).map(([name, { field, path = [] }]): Wanted => {
    const composite = composites.get(field)
    const encoding = checkPlace(`keep.${name}`, { field, path, composite }, dialect)
    const { takes } = places.get(name)!
    return { name, field, path, composite, encoding, takes }
  })
  if (all.length === 0) return undefined
  return {
    fields: new Set(all.map(({ field }) => field)),
    keep: (fieldOf, holdsNumber) => {
      const values: Record<string, string> = {}
      const unread: string[] = []
      for (const wanted of all) {
        const bytes = fieldOf(wanted.field)
        if (bytes === undefined) continue
        try {
          const text = keptTextOf(bytes, wanted)
          if (text === undefined) continue
          if (readingsOf(text, wanted.encoding).some(holdsNumber)) unread.push(wanted.name)
          else values[wanted.name] = text
        } catch (error) {
          // A network that sends it otherwise loses no approval for it.
          if (!(error instanceof CodecError)) throw error
          unread.push(wanted.name)
        }
      }
      return { values: Object.keys(values).length === 0 ? undefined : values, unread }
    },
  }
}

/** A kept value, and what its bytes say as digits and as characters: a network may write a card number in either. */
const readingsOf = (text: string, encoding: Encoding): readonly string[] => {
  if (encoding !== 'hex' && encoding !== 'base64') return [text]
  const bytes = Buffer.from(text, encoding)
  return [bytes.toString('hex'), bytes.toString('latin1')]
}

/** Card number, expiry, tracks, PIN and keys. */
const secret: ReadonlySet<number> = new Set([2, 14, 34, 35, 36, 45, 52, 53, 55, 64, 96, 128])

/** Gives how the value of the place is encoded. */
const checkPlace = (
  place: string,
  { field, path, composite }: Pick<Wanted, 'field' | 'path' | 'composite'>,
  dialect: Dialect,
): Encoding => {
  const spec = dialect.fields[field]
  if (spec === undefined) {
    throw new ContentError(place, `dialect ${dialect.name} has no field ${field}`)
  }
  if (secret.has(field)) throw new ContentError(place, `field ${field} may not be kept`)
  if (!isShown(composite, path)) {
    throw new ContentError(place, `composites.${field} has no such path, or it is sensitive`)
  }
  const fieldLength = spec.prefixDigits === 0 ? spec.max : undefined
  const { encoding, length } = entryIn(composite, path) ?? {
    encoding: encodingOf(field, dialect),
    length: fieldLength,
  }
  // Text may be shorter than its place.
  const isBytes = encoding === 'hex' || encoding === 'base64'
  if (isBytes && textOf(encoding, length ?? 0).length > keptCharactersMax) {
    throw new ContentError(
      place,
      `a value of more than ${keptCharactersMax} characters is not kept`,
    )
  }
  return encoding
}

const entryIn = (
  composite: Composite<unknown> | undefined,
  [id, ...rest]: readonly string[],
): CompositeEntry<unknown> | undefined => {
  const entry = composite?.entries.find((one) => one.id === id)
  return rest.length === 0 ? entry : entryIn(entry?.composite, rest)
}

/** Whether the path leads to a value with nothing sensitive in it; without a path, that is the whole. */
const isShown = (composite: Composite<unknown> | undefined, path: readonly string[]): boolean => {
  const [id, ...rest] = path
  if (id === undefined) return !hasSensitive(composite)
  const entry = composite?.entries.find((one) => one.id === id)
  return entry !== undefined && !entry.isSensitive && isShown(entry.composite, rest)
}

/**
 * Undefined if it is not there.
 *
 * @throws CodecError for what is there in another form
 */
const keptTextOf = (
  bytes: Uint8Array,
  { field, path, composite, encoding, takes }: Wanted,
): string | undefined => {
  const text =
    path.length > 0 && composite !== undefined
      ? entryAt(readComposite(bytes, composite, String(field)), path)?.value
      : encoding === 'hex'
        ? Buffer.from(bytes).toString('hex').toUpperCase()
        : String.fromCharCode(...bytes)
  if (text === undefined) return undefined
  // Blanks fill a place on the right.
  const kept = text.trimEnd()
  if (takes(kept)) return kept
  const rule = `a value of its place, of at most ${keptCharactersMax} characters`
  throw new CodecError('iso8583_subelement', 0, `field ${field}: ${rule}`, { field, rule })
}

const entryAt = (
  entries: readonly ReadEntry[],
  [id, ...rest]: readonly string[],
): ReadEntry | undefined => {
  const entry = entries.find((one) => one.id === id)
  return entry === undefined || rest.length === 0 ? entry : entryAt(entry.entries, rest)
}
