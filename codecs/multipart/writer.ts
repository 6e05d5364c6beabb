import { CodecError } from '#codecs/bytes'
import { checkBoundary } from './boundary.ts'

/** @property headers - written in this order; ASCII, no line breaks */
type MultipartPartToWrite = {
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array
}

const encoder = new TextEncoder()
const headerName = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/
const headerValue = /^[\t\x20-\x7e]*$/

/**
 * Writes a multipart/mixed body: head, body, head, body, …, closing delimiter.
 *
 * @param boundary - must not occur in a body after a line break; checked
 * @throws CodecError `multipart_boundary`, `multipart_header`, `multipart_boundary_in_body`,
 *   `multipart_empty`; `context.part` is the zero-based part
 */
export const encodeMultipart = (
  parts: readonly MultipartPartToWrite[],
  boundary: string,
): Uint8Array<ArrayBuffer> => {
  checkBoundary(boundary)
  if (parts.length === 0) throw new CodecError('multipart_empty', 0, 'a body needs a part')
  const delimiter = encoder.encode(`--${boundary}`)
  const pieces = parts.flatMap((part, index) => {
    if (contains(part.body, delimiter)) {
      const message = 'the boundary occurs in a body'
      throw new CodecError('multipart_boundary_in_body', 0, message, { part: index })
    }
    const before = index === 0 ? '' : '\r\n'
    return [encoder.encode(`${before}--${boundary}\r\n${headLines(part, index)}\r\n`), part.body]
  })
  pieces.push(encoder.encode(`\r\n--${boundary}--\r\n`))
  const out = new Uint8Array(pieces.reduce((sum, { length }) => sum + length, 0))
  let at = 0
  for (const piece of pieces) {
    out.set(piece, at)
    at += piece.length
  }
  return out
}

const headLines = ({ headers }: MultipartPartToWrite, part: number): string => {
  let lines = ''
  for (const [name, value] of Object.entries(headers)) {
    if (!headerName.test(name) || !headerValue.test(value)) {
      const message = 'a header has characters it must not have'
      throw new CodecError('multipart_header', 0, message, { part })
    }
    lines += `${name}: ${value}\r\n`
  }
  return lines
}

const contains = (body: Uint8Array, wanted: Uint8Array): boolean => {
  const first = wanted[0]!
  for (let at = body.indexOf(first); at >= 0; at = body.indexOf(first, at + 1)) {
    let matched = 1
    while (matched < wanted.length && body[at + matched] === wanted[matched]) matched++
    if (matched === wanted.length) return true
  }
  return false
}
