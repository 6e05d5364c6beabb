import { CodecError } from '#codecs/bytes'
import {
  type Composite,
  createParser,
  type Dialect,
  dialects,
  type ExplainedIsoField,
  explainIso8583,
  FrameDecoder,
  type Framing,
  framings,
  maskText,
  packIso8583,
  parseDialect,
  type ReadEntry,
  readComposite,
} from '#codecs/iso8583'
import type { ExplainedField, InspectOptions, Inspector } from '#src/platform/lifecycle/index.ts'
import type { Content } from './content/index.ts'
import { parseNetwork } from './networks/index.ts'

/** Explains ISO 8583 messages, as bytes or as hexadecimal text; card data is masked. */
export const iso8583Inspector: Inspector = {
  name: 'iso8583',
  summary: 'an ISO 8583 message, as bytes or as hexadecimal digits (see --dialect and --frame)',
  matches: (input) => /^\s*(30|31)3[0-9]3[0-9]3[0-9][0-9A-Fa-f]{16,}\s*$/.test(textOf(input)),
  explain: (input, options = {}) => {
    const spoken = spokenOf(options)
    const { dialect } = spoken
    const bytes = bodyOf(bytesOf(input), spoken.framing)
    const unmasked = options.unmasked === true
    const { json, fields, error } = explainIso8583(bytes, dialect, {
      unmasked,
      secret: spoken.content?.secret,
    })
    const hiddenWhole = new Set(fields.flatMap(({ de, value }) => (value === hidden ? [de] : [])))
    const shown = (entry: ReadEntry, de: number) => shownEntry(entry, hiddenWhole.has(de))
    const composites = compositesOf(bytes, spoken, unmasked ? whole : shown)
    const inside = Object.fromEntries([...composites].map(([de, found]) => [de, found.map(jsonOf)]))
    return {
      title: `ISO 8583 message ${json.mti}, dialect ${dialect.name}, ${bytes.length} bytes`,
      fields: fields.map((field) => lineOf(field, composites.get(field.de))),
      value: composites.size === 0 ? json : { ...json, composites: inside },
      ...(error !== undefined && { failure: failureOf(error) }),
    }
  },
  pack: (json, options) => hexOf(packIso8583(json, spokenOf(options).dialect)),
}

const lineOf = (
  { de, name, offset, wireBytes, hex, value }: ExplainedIsoField,
  inside: readonly ReadEntry[] | undefined,
): ExplainedField => ({
  name: `${de} ${name}`,
  value,
  meaning: `offset ${offset}, ${wireBytes} bytes${hex === '' ? ', masked' : `: ${hex}`}`,
  ...(inside === undefined ? {} : { children: inside.map(childOf) }),
})

const childOf = ({ id, name, value, entries }: ReadEntry): ExplainedField =>
  entries.length > 0
    ? { name: `${id} ${name}`.trim(), children: entries.map(childOf) }
    : { name: `${id} ${name}`.trim(), value }

const jsonOf = ({ id, name, value, entries }: ReadEntry): object =>
  entries.length > 0 ? { id, name, entries: entries.map(jsonOf) } : { id, name, value }

/** A field whose digits are searched for card numbers, and whose text is shown. */
const privateField = 60
const hidden = '***'

type Show = (entry: ReadEntry, de: number) => ReadEntry

const whole: Show = (entry) => entry

/** @param isKnownOnly what the file does not name may be why its field is hidden as a whole */
const shownEntry = (entry: ReadEntry, isKnownOnly: boolean): ReadEntry => {
  const isHidden = entry.isSensitive || (isKnownOnly && !entry.isKnown)
  return {
    ...entry,
    value: isHidden ? hidden : maskText(privateField, entry.value),
    entries: isHidden ? [] : entry.entries.map((one) => shownEntry(one, isKnownOnly)),
  }
}

const notRead = { id: '', isKnown: true, name: 'not read', isSensitive: false, entries: [] }

/** A field that cannot be read tells why. */
const entriesOf = (
  field: Uint8Array,
  composite: Composite<unknown>,
  de: number,
  show: Show,
): readonly ReadEntry[] => {
  try {
    return readComposite(field, composite, String(de)).map((entry) => show(entry, de))
  } catch (error) {
    if (!(error instanceof CodecError)) throw error
    return [{ ...notRead, value: error.message }]
  }
}

/** The entries of private fields, where the network's file says how they lie. */
const compositesOf = (
  bytes: Uint8Array,
  { dialect, content }: Spoken,
  show: Show,
): ReadonlyMap<number, readonly ReadEntry[]> => {
  const found = new Map<number, readonly ReadEntry[]>()
  if (content === undefined) return found
  try {
    const parser = createParser(dialect).parse(bytes)
    for (const [de, composite] of content.composites) {
      const field = parser.copy(de)
      if (field !== undefined) found.set(de, entriesOf(field, composite, de, show))
    }
  } catch (error) {
    // We tell what is wrong with the message beside its fields.
    if (!(error instanceof CodecError)) throw error
  }
  return found
}

/** What two parties agreed on. */
type Spoken = {
  readonly dialect: Dialect
  readonly framing: Framing | undefined
  readonly content: Content | undefined
}

const spokenOf = (options: InspectOptions): Spoken => {
  const { network } = options
  if (network === undefined) {
    return { dialect: dialectOf(options), framing: framingOf(options), content: undefined }
  }
  const { dialect, content } = parseNetwork(network)
  return { dialect, framing: framingOf(options), content }
}

const failureOf = ({ code, message, offset, context }: CodecError) => ({
  ...context,
  code,
  offset,
  message: `${message} (${code}, offset ${offset})`,
})

const dialectOf = ({ dialect }: InspectOptions): Dialect => {
  if (dialect === undefined) return dialects['ascii']!
  if (typeof dialect !== 'string') return parseDialect(dialect, dialects)
  const found = Object.hasOwn(dialects, dialect) ? dialects[dialect] : undefined
  if (found !== undefined) return found
  throw new Error(`no dialect of that name; there are ${Object.keys(dialects).join(', ')}`)
}

const framingOf = ({ frame }: InspectOptions): Framing | undefined => {
  if (frame === undefined) return undefined
  const named: Readonly<Record<string, Framing>> = framings
  const framing = Object.hasOwn(named, frame) ? named[frame] : undefined
  if (framing !== undefined) return framing
  throw new Error(`no framing of that name; there are ${Object.keys(framings).join(', ')}`)
}

const bodyOf = (bytes: Uint8Array, framing: Framing | undefined): Uint8Array => {
  if (framing === undefined) return bytes
  const bodies: Uint8Array[] = []
  new FrameDecoder(framing, {
    message: (from, start, end) => bodies.push(from.slice(start, end)),
    keepAlive: () => undefined,
  }).push(bytes)
  const [body] = bodies
  if (body === undefined || bodies.length > 1) throw new Error('the input is not one whole frame')
  return body
}

const textOf = (input: Uint8Array): string => Buffer.from(input).toString('latin1')

const bytesOf = (input: Uint8Array): Uint8Array => {
  const text = textOf(input).replace(/\s/g, '')
  return /^([0-9A-Fa-f]{2})+$/.test(text) ? Uint8Array.from(Buffer.from(text, 'hex')) : input
}

const hexOf = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex').toUpperCase()
