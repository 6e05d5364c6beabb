import { SaxesParser } from 'saxes'
import type { CodecError } from '#codecs/bytes'
import type { XmlErrorCode } from './errors.ts'

/** An error of the scanner for a person: where, by line and column from 1, and why. */
export type XmlExplanation = {
  readonly code: string
  readonly line: number
  /** In characters, from 1. */
  readonly column: number
  readonly reason: string
}

/** A second parser reads no more than this of a document, because it takes a hundred times as long. */
export const explainedBytesMax = 65_536

const decoder = new TextDecoder('utf-8', { ignoreBOM: true })

/** Whether a line ends with this byte: LF, CR LF, or CR alone. XML 1.0, 2.11. */
const endsLine = (bytes: Uint8Array, at: number): boolean =>
  bytes[at] === 0x0a || (bytes[at] === 0x0d && bytes[at + 1] !== 0x0a)

/** Line and column of a byte offset, both from 1. */
export const lineColumnAt = (
  bytes: Uint8Array,
  offset: number,
): { readonly line: number; readonly column: number } => {
  let line = 1
  let column = 1
  const end = Math.min(offset, bytes.length)
  for (let at = 0; at < end; at++) {
    if (endsLine(bytes, at)) {
      line++
      column = 1
    } else if ((bytes[at]! & 0xc0) !== 0x80) column++
  }
  return { line, column }
}

/** The lines of some offsets, in one pass over the bytes. */
export const linesAt = (
  bytes: Uint8Array,
  offsets: readonly number[],
): ReadonlyMap<number, number> => {
  const lines = new Map<number, number>()
  let at = 0
  let line = 1
  for (const offset of [...offsets].sort((a, b) => a - b)) {
    for (; at < offset; at++) if (endsLine(bytes, at)) line++
    lines.set(offset, line)
  }
  return lines
}

/** Only the scanner refuses these: a second parser would report another fault, further on. */
const ownCodes: ReadonlySet<string> = new Set<XmlErrorCode>([
  'document_too_large',
  'depth_exceeded',
  'attributes_exceeded',
  'name_too_long',
  'text_too_long',
  'elements_exceeded',
  'encoding_unsupported',
  'utf8_invalid',
  'doctype_forbidden',
  'processing_instruction_forbidden',
])

/** The scanner's code and place, with the reason in the words of a second parser where it agrees to refuse. */
export const explainXmlError = (bytes: Uint8Array, error: CodecError): XmlExplanation => {
  const { line, column } = lineColumnAt(bytes, error.offset)
  const isAsked = !ownCodes.has(error.code) && error.offset < explainedBytesMax
  const theirs = isAsked ? saxesReason(bytes) : undefined
  return { code: error.code, line, column, reason: theirs ?? error.message }
}

/** saxes says "line:column: reason." It may quote a name of the document, and nothing else of it. */
const saxesReason = (bytes: Uint8Array): string | undefined => {
  const parser = new SaxesParser({ xmlns: true, position: true })
  try {
    // The parser stops at its first fault, which may lie a little behind ours.
    parser.write(decoder.decode(bytes.subarray(0, 2 * explainedBytesMax)))
    if (bytes.length <= 2 * explainedBytesMax) parser.close()
    return undefined
  } catch (error) {
    const message = error instanceof Error ? error.message : ''
    return message.replace(/^\d+:\d+: /, '').replace(/\.$/, '') || undefined
  }
}
