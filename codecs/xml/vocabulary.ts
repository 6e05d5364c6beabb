/**
 * Names with fixed small integers, so that a reader or a schema automaton compares ids instead of strings.
 * A name outside the vocabulary gets an id of its document, from {@link size} on.
 */
export type XmlVocabulary = {
  readonly names: readonly string[]
  readonly size: number
  /** -1 for a name outside the vocabulary. */
  readonly idOf: (name: string) => number
}

/** The ids are the positions in `names`; duplicates are dropped. */
export const createXmlVocabulary = (names: readonly string[]): XmlVocabulary => {
  const unique = [...new Set(names)]
  const ids = new Map(unique.map((name, id) => [name, id]))
  return { names: unique, size: unique.length, idOf: (name) => ids.get(name) ?? -1 }
}

const encoder = new TextEncoder()

/**
 * The names of one document: the vocabulary's, and behind them those only this document has.
 * Open addressing on a 32-bit hash that the scanner computes while it reads the name.
 */
export class NameTable {
  readonly #vocabularySize: number
  #mask = 1023
  #slots = new Int32Array(1024)
  #hashes = new Int32Array(512)
  #starts = new Int32Array(513)
  #bytes = new Uint8Array(8192)
  #count = 0

  constructor(vocabulary: XmlVocabulary) {
    this.#vocabularySize = vocabulary.size
    for (const name of vocabulary.names) {
      const bytes = encoder.encode(name)
      this.intern(bytes, 0, bytes.length, hashName(bytes, 0, bytes.length))
    }
  }

  /** True for a name of the vocabulary, whose id holds for every document. */
  isKnown(id: number): boolean {
    return id < this.#vocabularySize
  }

  /** Forgets the names that only the last document had. */
  reset(): void {
    if (this.#count === this.#vocabularySize) return
    this.#count = this.#vocabularySize
    this.#rebuild(this.#mask + 1)
  }

  intern(source: Uint8Array, start: number, end: number, hash: number): number {
    const slots = this.#slots
    const mask = this.#mask
    let slot = hash & mask
    for (let found = slots[slot] as number; found !== 0; found = slots[slot] as number) {
      if (this.#hashes[found - 1] === hash && this.#equals(found - 1, source, start, end)) {
        return found - 1
      }
      slot = (slot + 1) & mask
    }
    return this.#add(source, start, end, hash, slot)
  }

  #equals(id: number, source: Uint8Array, start: number, end: number): boolean {
    let at = this.#starts[id] as number
    if ((this.#starts[id + 1] as number) - at !== end - start) return false
    const bytes = this.#bytes
    for (let i = start; i < end; i++) if (bytes[at++] !== source[i]) return false
    return true
  }

  #add(source: Uint8Array, start: number, end: number, hash: number, slot: number): number {
    const id = this.#count
    const at = this.#starts[id] as number
    const next = at + (end - start)
    if (next > this.#bytes.length) this.#bytes = grown(this.#bytes, next)
    for (let i = start, to = at; i < end; i++) this.#bytes[to++] = source[i] as number
    if (id + 2 > this.#starts.length) this.#starts = grown(this.#starts, id + 2)
    if (id + 1 > this.#hashes.length) this.#hashes = grown(this.#hashes, id + 1)
    this.#starts[id + 1] = next
    this.#hashes[id] = hash
    this.#slots[slot] = id + 1
    this.#count = id + 1
    if (this.#count * 2 > this.#mask) this.#rebuild((this.#mask + 1) * 4)
    return id
  }

  #rebuild(size: number): void {
    const slots = size === this.#mask + 1 ? this.#slots.fill(0) : new Int32Array(size)
    this.#mask = size - 1
    this.#slots = slots
    for (let id = 0; id < this.#count; id++) {
      let slot = (this.#hashes[id] as number) & this.#mask
      while (slots[slot] !== 0) slot = (slot + 1) & this.#mask
      slots[slot] = id + 1
    }
  }
}

/** The hash that {@link NameTable} expects: h·31 + byte, 32 bits. */
export const hashName = (bytes: Uint8Array, start: number, end: number): number => {
  let hash = 0
  for (let i = start; i < end; i++) hash = (Math.imul(hash, 31) + (bytes[i] as number)) | 0
  return hash
}

/** A copy with room for at least `needed` entries, growing by a factor at least. */
export const grown = <T extends Uint8Array | Int32Array>(old: T, needed: number, factor = 2): T => {
  const size = Math.max(needed, Math.ceil(old.length * factor))
  const next = old instanceof Uint8Array ? new Uint8Array(size) : new Int32Array(size)
  next.set(old)
  return next as T
}
