import { CodecError } from '#codecs/bytes'
import { checkBoundary } from './boundary.ts'

/** @property headers - written in this order; ASCII, no line breaks */
export type MultipartPartToWrite = {
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array
}

const encoder = new TextEncoder()
const headerName = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/
const headerValue = /^[\t\x20-\x7e]*$/

/**
 * Writes a multipart/mixed body piece by piece: head, body, head, body, …, closing delimiter. Bodies
 * are passed on, not copied.
 *
 * @param boundary - must not occur in a body after a line break; checked
 * @throws CodecError `multipart_boundary`, `multipart_header`, `multipart_boundary_in_body`,
 *   `multipart_empty`; `context.part` is the zero-based part
 */
export function* writeMultipart(
  parts: readonly MultipartPartToWrite[],
  boundary: string,
): Generator<Uint8Array, void> {
  checkBoundary(boundary)
  if (parts.length === 0) throw new CodecError('multipart_empty', 0, 'a body needs a part')
  const delimiter = encoder.encode(`--${boundary}`)
  for (const [index, part] of parts.entries()) {
    if (contains(part.body, delimiter)) {
      const message = 'the boundary occurs in a body'
      throw new CodecError('multipart_boundary_in_body', 0, message, { part: index })
    }
    yield encoder.encode(
      `${index === 0 ? '' : '\r\n'}--${boundary}\r\n${headLines(part, index)}\r\n`,
    )
    yield part.body
  }
  yield encoder.encode(`\r\n--${boundary}--\r\n`)
}

/** {@link writeMultipart} in one piece. */
export const encodeMultipart = (
  parts: readonly MultipartPartToWrite[],
  boundary: string,
): Uint8Array<ArrayBuffer> => {
  const pieces = [...writeMultipart(parts, boundary)]
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
