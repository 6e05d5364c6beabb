const encoder = new TextEncoder()

/** A set of texts, looked up by their bytes without making strings. */
export class ByteSet {
  private readonly lengthMax: number
  /** By hash; nearly always one text each. */
  private readonly texts = new Map<number, readonly Uint8Array[]>()
  /** The text found last: most messages have it again. */
  private last: Uint8Array = new Uint8Array(0)

  constructor(texts: readonly string[]) {
    const encoded = texts.map((text) => encoder.encode(text))
    this.lengthMax = Math.max(0, ...encoded.map(({ length }) => length))
    for (const text of encoded) {
      const hash = hashOf(text, 0, text.length)
      this.texts.set(hash, [...(this.texts.get(hash) ?? []), text])
    }
  }

  has(bytes: Uint8Array, start: number, end: number): boolean {
    if (isSame(this.last, bytes, start, end) && end > start) return true
    if (end - start > this.lengthMax) return false
    const texts = this.texts.get(hashOf(bytes, start, end))
    if (texts === undefined) return false
    for (let i = 0; i < texts.length; i++) {
      const text = texts[i] as Uint8Array
      if (!isSame(text, bytes, start, end)) continue
      this.last = text
      return true
    }
    return false
  }
}

const hashOf = (bytes: Uint8Array, start: number, end: number): number => {
  let hash = 0
  for (let i = start; i < end; i++) hash = (Math.imul(hash, 31) + (bytes[i] as number)) | 0
  return hash
}

/** Whether the bytes from `start` to before `end` are those of the text. */
export const isSame = (
  text: Uint8Array,
  bytes: Uint8Array,
  start: number,
  end: number,
): boolean => {
  if (text.length !== end - start) return false
  for (let i = 0; i < text.length; i++) if (text[i] !== bytes[start + i]) return false
  return true
}
