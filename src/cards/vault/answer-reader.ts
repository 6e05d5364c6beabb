import { nativeText } from '#src/platform/runtime/index.ts'

/** Bytes of a whole answer that are kept; the vault's has two hundred, and seventy for each further token. */
export const answerBytesMax = 16_384

export type VaultAnswer = {
  readonly status: number
  readonly expiry: string | undefined
  readonly cryptogram: string | undefined
  readonly tokensMax: string | undefined
  /** Where the body lies in the reader's buffer. */
  readonly start: number
  readonly end: number
  /** Whether another request may go over the connection. */
  readonly isKept: boolean
}

/** The answer is none of HTTP/1.1, or too long to be read. */
export class AnswerError extends Error {
  override readonly name = 'AnswerError'
}

type Head = {
  readonly status: number
  readonly bodyAt: number
  /** `chunked`: in pieces; undefined: all that comes until the end of the connection. */
  readonly bytes: number | 'chunked' | undefined
  readonly isKept: boolean
  readonly expiry: string | undefined
  readonly cryptogram: string | undefined
  readonly tokensMax: string | undefined
}

const statusLine = /^HTTP\/1\.([01]) ([1-5]\d\d)(?: |$)/
const lengthForm = /^\d{1,9}$/
const chunkForm = /^([\da-fA-F]{1,6})[ \t]*(?:;.*)?$/
const endOfHead = Buffer.from('\r\n\r\n')
const endOfLine = Buffer.from('\r\n')

/**
 * Reads one answer of HTTP/1.1 (RFC 9112) after the other from the pieces of a connection, in one buffer that is wiped
 * with `clear`: card numbers are in no other place of ours.
 */
export class AnswerReader {
  readonly bytes = Buffer.alloc(answerBytesMax)
  private length = 0
  private head: Head | undefined = undefined
  private last: { readonly text: string; readonly head: Head } | undefined = undefined

  /** Whether a byte of an answer has come. */
  get hasBegun(): boolean {
    return this.length > 0 || this.head !== undefined
  }

  /**
   * Takes a piece, which is wiped; undefined until the answer is whole.
   *
   * @throws AnswerError
   */
  take(piece: Uint8Array): VaultAnswer | undefined {
    const taken = Math.min(piece.length, answerBytesMax - this.length)
    const isTooLong = taken < piece.length
    this.bytes.set(piece.subarray(0, taken), this.length)
    let from = this.length
    this.length += taken
    piece.fill(0)
    while (this.head === undefined) {
      const end = this.bytes.subarray(0, this.length).indexOf(endOfHead, Math.max(0, from - 3))
      if (end === -1) {
        if (isTooLong) throw new AnswerError('the head is too long')
        return undefined
      }
      const head = this.headIn(nativeText.latin1(this.bytes, 0, end), end + endOfHead.length)
      if (head.status >= 200) this.head = head
      else this.skip(head)
      from = 0
    }
    const answer = this.answerOf(this.head)
    if (!isTooLong) return answer
    // An answer may be longer than anything that is read: then only its status counts.
    return {
      ...(answer ?? answered(this.head, this.head.bodyAt, this.length, false)),
      isKept: false,
    }
  }

  /** The connection has ended; undefined if the answer is not whole. */
  end(): VaultAnswer | undefined {
    const { head } = this
    return head?.bytes === undefined && head !== undefined
      ? answered(head, head.bodyAt, this.length, false)
      : undefined
  }

  /** Wipes the answer. */
  clear(): void {
    this.bytes.fill(0, 0, this.length)
    this.length = 0
    this.head = undefined
  }

  /** Answers of one second have the same head, but for a cryptogram, which is not kept. */
  private headIn(text: string, bodyAt: number): Head {
    const { last } = this
    if (last?.text === text) return last.head
    const head = headOf(text, bodyAt)
    if (head.cryptogram === undefined) this.last = { text, head }
    return head
  }

  /** An interim answer (RFC 9110 section 15.2) comes before the one that counts. */
  private skip({ status, bodyAt }: Head): void {
    if (status === 101) throw new AnswerError('the protocol was changed')
    this.bytes.copyWithin(0, bodyAt, this.length)
    this.bytes.fill(0, this.length - bodyAt, this.length)
    this.length -= bodyAt
  }

  private answerOf(head: Head): VaultAnswer | undefined {
    const { bodyAt, bytes } = head
    if (bytes === undefined) return undefined
    if (bytes === 'chunked') return this.joined(head)
    const end = bodyAt + bytes
    if (this.length < end) return undefined
    // Nobody has asked for bytes behind it.
    return answered(head, bodyAt, end, head.isKept && this.length === end)
  }

  /** Joins the pieces of the body (RFC 9112 section 7.1) in their place, once all are there. */
  private joined(head: Head): VaultAnswer | undefined {
    const all = this.bytes.subarray(0, this.length)
    const pieces: (readonly [number, number])[] = []
    let at = head.bodyAt
    for (;;) {
      const lineEnd = all.indexOf(endOfLine, at)
      if (lineEnd === -1) return undefined
      const size = chunkForm.exec(nativeText.latin1(all, at, lineEnd))?.[1]
      if (size === undefined) throw new AnswerError('a piece of the body has no length')
      const start = lineEnd + endOfLine.length
      const end = start + Number.parseInt(size, 16)
      if (end === start) break
      if (this.length < end + endOfLine.length) return undefined
      if (all.indexOf(endOfLine, end) !== end) throw new AnswerError('a piece does not end')
      pieces.push([start, end])
      at = end + endOfLine.length
    }
    // The last length has an empty line behind it, or fields of a trailer first.
    const trailer = all.indexOf(endOfHead, all.indexOf(endOfLine, at))
    if (trailer === -1) return undefined
    let to = head.bodyAt
    for (const [start, end] of pieces) {
      all.copyWithin(to, start, end)
      to += end - start
    }
    const isLast = trailer + endOfHead.length === this.length
    return answered(head, head.bodyAt, to, head.isKept && isLast)
  }
}

const answered = (
  { status, expiry, cryptogram, tokensMax }: Head,
  start: number,
  end: number,
  isKept: boolean,
): VaultAnswer => ({ status, expiry, cryptogram, tokensMax, start, end, isKept })

/** @throws AnswerError for what two readers may take for different answers, too */
const headOf = (text: string, bodyAt: number): Head => {
  const [first = '', ...lines] = text.split('\r\n')
  const [, minor, code] = statusLine.exec(first) ?? []
  if (code === undefined) throw new AnswerError('no answer of HTTP/1.1')
  const fields = new Map<string, string>()
  for (const line of lines) {
    const colon = line.indexOf(':')
    if (colon < 1) throw new AnswerError('a header field has no name')
    const name = line.slice(0, colon).toLowerCase()
    const value = line.slice(colon + 1).trim()
    const before = fields.get(name)
    if (name === 'content-length' && before !== undefined && before !== value) {
      throw new AnswerError('two lengths')
    }
    fields.set(name, value)
  }
  const status = Number(code)
  const connection = fields.get('connection')?.toLowerCase() ?? ''
  const bytes = bodyBytes(status, fields)
  return {
    status,
    bodyAt,
    bytes,
    isKept: bytes !== undefined && minor === '1' && !connection.includes('close'),
    expiry: fields.get('card-expiry'),
    cryptogram: fields.get('card-cryptogram'),
    tokensMax: fields.get('card-tokens-max'),
  }
}

/** RFC 9112 section 6.3. */
const bodyBytes = (status: number, fields: ReadonlyMap<string, string>): Head['bytes'] => {
  if (status < 200 || status === 204 || status === 304) return 0
  const coding = fields.get('transfer-encoding')?.toLowerCase()
  const length = fields.get('content-length')
  if (coding !== undefined) {
    if (coding !== 'chunked' || length !== undefined) throw new AnswerError('no length that counts')
    return 'chunked'
  }
  if (length === undefined) return undefined
  if (!lengthForm.test(length)) throw new AnswerError('a length that is none')
  return Number(length)
}
