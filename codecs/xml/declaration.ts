import { isInName, isSpace } from './characters.ts'
import { xmlError } from './errors.ts'

const pattern =
  /^<\?xml[ \t\r\n]+version[ \t\r\n]*=[ \t\r\n]*(["'])1\.[0-9]+\1(?:[ \t\r\n]+encoding[ \t\r\n]*=[ \t\r\n]*(["'])([A-Za-z][A-Za-z0-9._-]*)\2)?(?:[ \t\r\n]+standalone[ \t\r\n]*=[ \t\r\n]*(["'])(?:yes|no)\4)?[ \t\r\n]*\?>$/

/** Bytes a declaration may take: far more than any real one. */
const declarationBytesMax = 256

/** Reads the XML declaration (XML 1.0, 2.8). Senders write the same one each time, so the last is kept. */
export class DeclarationScanner {
  private last = new Uint8Array()

  /** Returns the offset behind the declaration, or `from` if there is none. */
  scan(b: Uint8Array, from: number): number {
    if (!startsDeclaration(b, from)) return from
    if (this.isLast(b, from)) return from + this.last.length
    let end = from + 5
    while (b[end] !== 0x3e || b[end - 1] !== 0x3f) {
      if (b[end] === 0) throw xmlError('document_truncated', end)
      if (++end - from > declarationBytesMax) throw xmlError('declaration_invalid', from)
    }
    const match = pattern.exec(String.fromCharCode(...b.subarray(from, end + 1)))
    if (match === null) throw xmlError('declaration_invalid', from)
    const encoding = match[3]
    if (encoding !== undefined && encoding.toLowerCase() !== 'utf-8') {
      throw xmlError('encoding_unsupported', from)
    }
    this.last = b.slice(from, end + 1)
    return end + 1
  }

  private isLast(b: Uint8Array, from: number): boolean {
    const { last } = this
    for (let i = 0; i < last.length; i++) if (b[from + i] !== last[i]) return false
    return last.length > 0
  }
}

/** A declaration has no name character behind `<?xml`: `<?xml-stylesheet` is a processing instruction. */
const startsDeclaration = (b: Uint8Array, from: number): boolean =>
  b[from] === 0x3c &&
  b[from + 1] === 0x3f &&
  b[from + 2] === 0x78 &&
  b[from + 3] === 0x6d &&
  b[from + 4] === 0x6c &&
  (isSpace(b[from + 5]) || !isInName(b[from + 5]))
