import { CodecError, trimmed } from '#codecs/bytes'
import { boundaryOf } from './boundary.ts'
import { type MultipartLimits, type MultipartPart, multipartLimits } from './reader.ts'

/** The parts that we can take out of a body that {@link decodeMultipart} refuses. */
export type Salvage = {
  readonly parts: readonly MultipartPart[]
  /**
   * Why `parts` lacks something, as a code of the reader; undefined when nothing is lost, because the body deviates
   * only in form: line ends, a boundary that is not named, header lines that are none.
   */
  readonly lost: string | undefined
  /** What follows the last delimiter if no closing one ends the body: a part, whole or cut. */
  readonly rest: MultipartPart | undefined
}

const lf = 10
const cr = 13
const hyphen = 45
const paddingBytesMax = 256
const boundaryBytesMax = 256
const decoder = new TextDecoder('latin1')
const encoder = new TextEncoder()
const lineBreak = Uint8Array.of(lf)
const headerForm = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+)[ \t]*:([^\0\r\n]*)$/

/**
 * Reads a body as far as it can be read: delimiters stand at the start of a line and lines end by CRLF or LF. Without a
 * usable boundary in the Content-Type, the first line that begins with two hyphens names it.
 */
export const salvageMultipart = (
  body: Uint8Array,
  contentType: string,
  limits: MultipartLimits = multipartLimits,
): Salvage => {
  const nothing = { parts: [], rest: undefined }
  const named = namedIn(contentType)
  const delimiter = [
    named === undefined ? undefined : encoder.encode(`--${named}`),
    firstIn(body),
  ].find((one) => one !== undefined && next(body, one, 0) !== undefined)
  if (delimiter === undefined) return { ...nothing, lost: 'multipart_boundary' }
  const parts: MultipartPart[] = []
  let broken = 0
  let before = next(body, delimiter, 0)
  while (before !== undefined && !before.isClosing) {
    const behind = next(body, delimiter, before.end)
    const content = body.subarray(before.end, behind === undefined ? body.length : behind.lineEnd)
    const part = partOf(content, limits)
    if (behind === undefined) return { parts, lost: 'multipart_truncated', rest: part }
    if (parts.length + broken === limits.partsMax) {
      return { parts, lost: 'multipart_parts', rest: undefined }
    }
    if (part === undefined) broken++
    else parts.push(part)
    before = behind
  }
  return { parts, lost: broken > 0 ? 'multipart_header' : undefined, rest: undefined }
}

const namedIn = (contentType: string): string | undefined => {
  try {
    return boundaryOf(contentType)
  } catch (error) {
    if (!(error instanceof CodecError)) throw error
    const [, quoted, token] =
      /boundary\s*=\s*(?:"([^"]{1,128})"|([^;\s"]{1,128}))/i.exec(contentType) ?? []
    return quoted ?? token
  }
}

/** The first line that begins with two hyphens and something behind them. */
const firstIn = (body: Uint8Array): Uint8Array | undefined => {
  for (let at = 0; at < body.length; ) {
    const end = endOfLine(body, at)
    if (body[at] === hyphen && body[at + 1] === hyphen && end - at > 2) {
      if (end - at > boundaryBytesMax) return undefined
      const line = decoder.decode(body.subarray(at, end)).trimEnd()
      return line.length > 2 ? encoder.encode(line) : undefined
    }
    at = end + 1
  }
  return undefined
}

const endOfLine = (body: Uint8Array, from: number): number => {
  const at = body.indexOf(lf, from)
  return at === -1 ? body.length : at
}

type Delimiter = {
  /** Where the content before it ends; the line break between is left out. */
  readonly lineEnd: number
  readonly end: number
  readonly isClosing: boolean
}

/** The next delimiter that stands alone on its line; `from` is the start of a line. */
const next = (body: Uint8Array, delimiter: Uint8Array, from: number): Delimiter | undefined => {
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength)
  const line = Buffer.concat([lineBreak, delimiter])
  // Searches only at the start of a line: within lines the delimiter may stand a million times.
  const lineFrom = (start: number): number => {
    const found = bytes.indexOf(line, Math.max(0, start - 1))
    return found === -1 ? -1 : found + 1
  }
  const isFirst = from === 0 && bytes.subarray(0, delimiter.length).equals(delimiter)
  for (let at = isFirst ? 0 : lineFrom(from); at !== -1; at = lineFrom(at + 1)) {
    const isClosing =
      body[at + delimiter.length] === hyphen && body[at + delimiter.length + 1] === hyphen
    const rest = at + delimiter.length + (isClosing ? 2 : 0)
    const end = endOfLine(body, rest)
    const isPadded =
      end - rest <= paddingBytesMax && /^[ \t\r]*$/.test(decoder.decode(body.subarray(rest, end)))
    if (!isPadded) continue
    const lineEnd = Math.max(from, body[at - 2] === cr ? at - 2 : at - 1)
    return { lineEnd, end: Math.min(body.length, end + 1), isClosing }
  }
  return undefined
}

/** Undefined if no blank line and no document tells where its body begins, or if it is too large. */
const partOf = (content: Uint8Array, limits: MultipartLimits): MultipartPart | undefined => {
  const head = decoder.decode(content.subarray(0, limits.headerBytesMax))
  const isBare = /^[ \t\r\n]*</.test(head)
  const blank = isBare ? undefined : /(?:^|\r?\n)\r?\n/.exec(head)
  const at = isBare ? 0 : blank === null || blank === undefined ? -1 : blank.index + blank[0].length
  if (at === -1 || content.length - at > limits.partBytesMax) return undefined
  const headers = new Map<string, string>()
  for (const line of head.slice(0, at).split(/\r?\n/)) {
    const [, name, value] = headerForm.exec(line) ?? []
    if (name !== undefined && value !== undefined) {
      headers.set(name.toLowerCase(), trimmed(value, ' \t'))
    }
  }
  const skipped = isBare ? (/^[ \t\r\n]*/.exec(head)?.[0].length ?? 0) : at
  return { headers, body: content.subarray(skipped) }
}
