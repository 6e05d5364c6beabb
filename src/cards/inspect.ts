import type { CodecError } from '#codecs/bytes'
import {
  type Dialect,
  dialects,
  type ExplainedIsoField,
  explainIso8583,
  FrameDecoder,
  type Framing,
  framings,
  packIso8583,
  parseDialect,
} from '#codecs/iso8583'
import type { ExplainedField, InspectOptions, Inspector } from '#src/platform/lifecycle/index.ts'

/** Explains ISO 8583 messages, as bytes or as hexadecimal text; card data is masked. */
export const iso8583Inspector: Inspector = {
  name: 'iso8583',
  summary: 'an ISO 8583 message, as bytes or as hexadecimal digits (see --dialect and --frame)',
  matches: (input) => /^\s*(30|31)3[0-9]3[0-9]3[0-9][0-9A-Fa-f]{16,}\s*$/.test(textOf(input)),
  explain: (input, options = {}) => {
    const dialect = dialectOf(options)
    const bytes = bodyOf(bytesOf(input), options)
    const { json, fields, error } = explainIso8583(bytes, dialect, {
      unmasked: options.unmasked === true,
    })
    return {
      title: `ISO 8583 message ${json.mti}, dialect ${dialect.name}, ${bytes.length} bytes`,
      fields: fields.map(lineOf),
      value: json,
      ...(error !== undefined && { failure: failureOf(error) }),
    }
  },
  pack: (json, options) => hexOf(packIso8583(json, dialectOf(options))),
}

const lineOf = ({
  de,
  name,
  offset,
  wireBytes,
  hex,
  value,
}: ExplainedIsoField): ExplainedField => ({
  name: `${de} ${name}`,
  value,
  meaning: `offset ${offset}, ${wireBytes} bytes${hex === '' ? ', masked' : `: ${hex}`}`,
})

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

const bodyOf = (bytes: Uint8Array, { frame }: InspectOptions): Uint8Array => {
  if (frame === undefined) return bytes
  const named: Readonly<Record<string, Framing>> = framings
  const framing = Object.hasOwn(named, frame) ? named[frame] : undefined
  if (framing === undefined) {
    throw new Error(`no framing of that name; there are ${Object.keys(framings).join(', ')}`)
  }
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
