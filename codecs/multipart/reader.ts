import { CodecError, trimmed } from '#codecs/bytes'
import { checkBoundary } from './boundary.ts'

// body      = [preamble CRLF] delimiter CRLF part *(CRLF delimiter CRLF part) CRLF close [CRLF epilogue]
// delimiter = "--" boundary *LWSP        close = "--" boundary "--" *LWSP, alone on its line
// part      = *(header CRLF) [CRLF *octet]
// RFC 2046 section 5.1.1.

/**
 * @property headers - names in lower case; the values of a repeated name are joined by `, `
 * @property body - the caller's own; the bodies of {@link decodeMultipart} lie in one buffer
 */
export type MultipartPart = {
  readonly headers: ReadonlyMap<string, string>
  readonly body: Uint8Array
}

/** Bounds on what one body may make the reader hold. */
export type MultipartLimits = {
  readonly partsMax: number
  readonly partBytesMax: number
  /** The limit for the header block of one part. */
  readonly headerBytesMax: number
  /** Before the first delimiter. */
  readonly preambleBytesMax: number
}

export const multipartLimits: MultipartLimits = {
  partsMax: 100,
  partBytesMax: 10_485_760,
  headerBytesMax: 16_384,
  preambleBytesMax: 4_096,
}

type State = 'preamble' | 'headers' | 'body' | 'epilogue'
type Found = {
  readonly at: number
  readonly ending: 'open' | 'close' | 'none' | 'undecided'
  readonly next: number
}

const cr = 13
const lf = 10
const hyphen = 45
const space = 32
const tab = 9
/** Blanks after a delimiter. */
const paddingBytesMax = 256
/** First size of the buffer of a reader that gets chunks. */
const bufferBytes = 1_024
const encoder = new TextEncoder()
const decoder = new TextDecoder('latin1')
/** White space around the value of a header. */
const blanks = ' \t'
const header = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+):([^\0\r\n]*)$/

/** Takes a body in chunks of any size and gives each part as soon as its delimiter has come. */
export class MultipartReader {
  readonly #limits: MultipartLimits
  readonly #delimiter: Uint8Array
  /** True if the whole body comes in one piece: then the parts may stay in the buffer. */
  readonly #isWhole: boolean
  /** The bytes not yet consumed lie in `[start, end)`. */
  #buffer: Uint8Array
  #start = 0
  #end = 2
  /** Offset in the body of `buffer[0]`. */
  #base = -2
  /** Where the search goes on when more bytes arrive. */
  #scanned = 0
  #state: State = 'preamble'
  #headers: ReadonlyMap<string, string> = new Map()
  #parts = 0
  /** True once no more bytes can arrive. */
  #isOver = false

  /**
   * @param bodyBytes - given if the only chunk will be the whole body: parts are then views of one copy of it
   * @throws CodecError `multipart_boundary`
   */
  constructor(boundary: string, limits: MultipartLimits = multipartLimits, bodyBytes?: number) {
    checkBoundary(boundary)
    this.#limits = limits
    this.#isWhole = bodyBytes !== undefined
    this.#buffer = new Uint8Array(bodyBytes === undefined ? bufferBytes : bodyBytes + 2)
    this.#delimiter = encoder.encode(`\r\n--${boundary}`)
    // The first delimiter may stand at the very start, so we put the line break before it.
    this.#buffer[0] = cr
    this.#buffer[1] = lf
  }

  /**
   * @throws CodecError `multipart_parts`, `multipart_part_bytes`, `multipart_header_bytes`,
   *   `multipart_preamble_bytes`, `multipart_header`; `offset` counts from the start of the body
   */
  push(chunk: Uint8Array): MultipartPart[] {
    const out: MultipartPart[] = []
    if (this.#state === 'epilogue') return out
    this.#append(chunk)
    while (this.#step(out));
    return out
  }

  /**
   * @returns the last part, if only the end of the body has shown that the closing delimiter is one
   * @throws CodecError `multipart_truncated` when the closing delimiter has not come
   */
  end(): MultipartPart[] {
    const out: MultipartPart[] = []
    this.#isOver = true
    while (this.#step(out));
    if (this.#state !== 'epilogue') {
      throw this.#fail(
        'multipart_truncated',
        this.#end,
        'body ends before its closing delimiter',
        0,
      )
    }
    return out
  }

  #fail(code: string, at: number, message: string, limit: number): CodecError {
    return new CodecError(code, Math.max(0, this.#base + at), message, { limit })
  }

  #append(chunk: Uint8Array): void {
    if (this.#end + chunk.length > this.#buffer.length) {
      // The search may begin before the unconsumed bytes, at the blank line of the headers.
      const from = Math.min(this.#start, this.#scanned)
      const kept = this.#end - from
      const room = kept + chunk.length
      const target = room > this.#buffer.length ? new Uint8Array(room * 2) : this.#buffer
      target.set(this.#buffer.subarray(from, this.#end))
      this.#buffer = target
      this.#base += from
      this.#scanned -= from
      this.#start -= from
      this.#end = kept
    }
    this.#buffer.set(chunk, this.#end)
    this.#end += chunk.length
  }

  #step(out: MultipartPart[]): boolean {
    switch (this.#state) {
      case 'preamble':
        return this.#readPreamble()
      case 'headers':
        return this.#readHeaders()
      case 'body':
        return this.#readBody(out)
      case 'epilogue':
        return false
    }
  }

  #readPreamble(): boolean {
    const found = this.#findDelimiter()
    // The two bytes put before the body are not counted.
    const length = (found?.at ?? this.#scanned) - this.#start - 2
    if (length > this.#limits.preambleBytesMax) {
      const message = 'no delimiter at the start of the body'
      throw this.#fail(
        'multipart_preamble_bytes',
        this.#start,
        message,
        this.#limits.preambleBytesMax,
      )
    }
    if (found === undefined) return false
    this.#open(found)
    return true
  }

  #readHeaders(): boolean {
    const start = this.#start
    const end = this.#end
    if (end - start < 2) return false
    const isEmpty = this.#buffer[start] === cr && this.#buffer[start + 1] === lf
    // Without headers, the blank line and the delimiter share a break. It may be gone, so the place may be below zero.
    const searched = Math.min(end, start + this.#limits.headerBytesMax + blankLine.length)
    const at = isEmpty ? start - 2 : indexOf(this.#buffer, blankLine, this.#scanned, searched)
    const isMissing = at < 0 && !isEmpty
    const length = (isMissing ? end - blankLine.length + 1 : at) - start
    if (length > this.#limits.headerBytesMax) {
      const message = 'a part has too many bytes of headers'
      throw this.#fail('multipart_header_bytes', start, message, this.#limits.headerBytesMax)
    }
    if (isMissing) {
      this.#scanned = Math.max(start, end - blankLine.length + 1)
      return false
    }
    this.#headers = isEmpty
      ? new Map()
      : parseHeaders(this.#buffer.subarray(start, at), this.#base + start)
    this.#start = at + blankLine.length
    // The blank line's own break may begin the delimiter when the part has no body.
    this.#scanned = at + 2
    this.#state = 'body'
    return true
  }

  #readBody(out: MultipartPart[]): boolean {
    const found = this.#findDelimiter()
    const start = this.#start
    if ((found?.at ?? this.#scanned) - start > this.#limits.partBytesMax) {
      const message = 'a part has too many bytes'
      throw this.#fail('multipart_part_bytes', start, message, this.#limits.partBytesMax)
    }
    if (found === undefined) return false
    const end = Math.max(start, found.at)
    const body = this.#isWhole ? this.#buffer.subarray(start, end) : this.#buffer.slice(start, end)
    out.push({ headers: this.#headers, body })
    this.#open(found)
    return true
  }

  #open({ next, ending }: Found): void {
    this.#start = next
    this.#scanned = next
    this.#state = ending === 'close' ? 'epilogue' : 'headers'
    if (ending === 'close') return
    if (++this.#parts > this.#limits.partsMax) {
      const message = 'body has too many parts'
      throw this.#fail('multipart_parts', next, message, this.#limits.partsMax)
    }
  }

  /** Finds the next delimiter at or after `scanned`; without one, sets `scanned` to the place to go on. */
  #findDelimiter(): Found | undefined {
    for (;;) {
      const at = indexOf(this.#buffer, this.#delimiter, this.#scanned, this.#end)
      if (at < 0) {
        this.#scanned = Math.max(this.#scanned, this.#end - this.#delimiter.length + 1)
        return undefined
      }
      const found = this.#endingAt(at, at + this.#delimiter.length)
      if (found.ending === 'undecided') {
        this.#scanned = at
        return undefined
      }
      if (found.ending !== 'none') return found
      this.#scanned = at + 1
    }
  }

  /** Tells whether a part or the end follows a delimiter that ends at `from`, or whether it is not a delimiter. */
  #endingAt(at: number, from: number): Found {
    const buffer = this.#buffer
    const end = this.#end
    const isClosing = from + 1 < end && buffer[from] === hyphen && buffer[from + 1] === hyphen
    const behind = isClosing ? from + 2 : from
    let next = behind
    while (next < end && (buffer[next] === space || buffer[next] === tab)) next++
    if (next - behind > paddingBytesMax) return { at, ending: 'none', next }
    if (next + 1 < end) {
      const isBreak = buffer[next] === cr && buffer[next + 1] === lf
      if (!isBreak) return { at, ending: 'none', next }
      return { at, ending: isClosing ? 'close' : 'open', next: next + 2 }
    }
    const isEnding = next === end || buffer[next] === cr
    if (isClosing && isEnding && this.#isOver) return { at, ending: 'close', next: end }
    const mayGoOn = isEnding || (next === from && buffer[next] === hyphen)
    return { at, ending: mayGoOn ? 'undecided' : 'none', next }
  }
}

/**
 * Reads a whole body.
 *
 * @throws CodecError as the reader does
 * @example
 * for (const { headers, body } of decodeMultipart(bytes, boundaryOf(contentType))) use(headers, body)
 */
export const decodeMultipart = (
  body: Uint8Array,
  boundary: string,
  limits: MultipartLimits = multipartLimits,
): MultipartPart[] => {
  const reader = new MultipartReader(boundary, limits, body.length)
  return [...reader.push(body), ...reader.end()]
}

const blankLine = new Uint8Array([cr, lf, cr, lf])

const indexOf = (buffer: Uint8Array, wanted: Uint8Array, from: number, end: number): number => {
  const last = end - wanted.length
  let at = from
  for (;;) {
    at = buffer.indexOf(cr, at)
    if (at < 0 || at > last) return -1
    let matched = 1
    while (matched < wanted.length && buffer[at + matched] === wanted[matched]) matched++
    if (matched === wanted.length) return at
    at++
  }
}

const parseHeaders = (block: Uint8Array, offset: number): ReadonlyMap<string, string> => {
  const headers = new Map<string, string>()
  let at = offset
  for (const line of decoder.decode(block).split('\r\n')) {
    const [, name, value] = header.exec(line) ?? []
    if (name === undefined || value === undefined) {
      throw new CodecError('multipart_header', at, 'a part has a malformed header line')
    }
    const key = name.toLowerCase()
    const own = trimmed(value, blanks)
    const before = headers.get(key)
    headers.set(key, before === undefined ? own : `${before}, ${own}`)
    at += line.length + 2
  }
  return headers
}
