const entries = 64
const stringBytesMax = 128

const decoder = new TextDecoder('utf-8', { ignoreBOM: true })

/** Strings for byte ranges that recur from document to document, as namespace URIs and prefixes do. */
export class StringCache {
  readonly #bytes: (Uint8Array | undefined)[] = new Array(entries).fill(undefined)
  readonly #strings: string[] = new Array(entries).fill('')

  of(source: Uint8Array, start: number, end: number): string {
    const length = end - start
    if (length > stringBytesMax) return decoder.decode(source.subarray(start, end))
    let hash = length
    for (let i = start; i < end; i++) hash = (Math.imul(hash, 31) + (source[i] as number)) | 0
    const slot = hash & (entries - 1)
    const kept = this.#bytes[slot]
    if (kept !== undefined && equals(kept, source, start, length)) {
      return this.#strings[slot] as string
    }
    const bytes = source.slice(start, end)
    const text = decoder.decode(bytes)
    this.#bytes[slot] = bytes
    this.#strings[slot] = text
    return text
  }
}

const equals = (kept: Uint8Array, source: Uint8Array, start: number, length: number): boolean => {
  if (kept.length !== length) return false
  for (let i = 0; i < length; i++) if (kept[i] !== source[start + i]) return false
  return true
}
