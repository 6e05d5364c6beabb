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

/** Zero bytes behind the names, so that words may be read beyond the last. */
const padding = 8

/** Names beyond ASCII are looked up as strings; a text that is not a name is never found. */
const asciiName = /^[A-Za-z_][\w.-]*$/

/** A vocabulary by the bytes of its names, which finds a name without making a string of it. */
class NameIndex {
  /** By slot: the id + 1; 0 if the slot is free. A name is in the slot of its hash or in the next free one. */
  private readonly slots: Int32Array
  /** By id: where the name begins among the bytes of all; it ends where the next begins. */
  private readonly starts: Int32Array
  private readonly bytes: Uint8Array
  private readonly view: DataView

  constructor(names: readonly string[]) {
    const encoder = new TextEncoder()
    const encoded = names.map((name) => encoder.encode(name))
    let end = 0
    this.starts = Int32Array.from([0, ...encoded.map(({ length }) => (end += length))])
    this.bytes = new Uint8Array(end + padding)
    this.view = new DataView(this.bytes.buffer)
    // At most half of the slots are taken.
    this.slots = new Int32Array(2 << (32 - Math.clz32(names.length)))
    for (const [id, name] of encoded.entries()) {
      if (!asciiName.test(names[id] as string)) continue
      const start = this.starts[id] as number
      this.bytes.set(name, start)
      let slot = this.slotOf(this.view, start, name.length)
      while (this.slots[slot] !== 0) slot = (slot + 1) & (this.slots.length - 1)
      this.slots[slot] = id + 1
    }
  }

  /** The id of the name in `[start, end)`, behind which are at least three bytes; -1 for one that is not among them. */
  idAt(view: DataView, start: number, end: number): number {
    const { slots, starts } = this
    const bytes = end - start
    for (let slot = this.slotOf(view, start, bytes); ; slot = (slot + 1) & (slots.length - 1)) {
      const id = (slots[slot] as number) - 1
      if (id === -1) return -1
      const own = starts[id] as number
      if ((starts[id + 1] as number) - own === bytes && this.isAt(own, view, start, bytes))
        return id
    }
  }

  private isAt(own: number, view: DataView, start: number, bytes: number): boolean {
    const names = this.view
    let i = 0
    for (; i + 4 <= bytes; i += 4) {
      if (names.getInt32(own + i, true) !== view.getInt32(start + i, true)) return false
    }
    return i === bytes || restOf(names, own + i, bytes - i) === restOf(view, start + i, bytes - i)
  }

  /** Hashes the first and the last bytes, which tell most names apart. */
  private slotOf(view: DataView, start: number, bytes: number): number {
    const first = bytes < 4 ? restOf(view, start, bytes) : view.getInt32(start, true)
    const last = bytes < 4 ? 0 : view.getInt32(start + bytes - 4, true)
    const hash = Math.imul(first ^ Math.imul(last, 0x85ebca6b) ^ bytes, 0x9e3779b1)
    return (hash ^ (hash >>> 15)) & (this.slots.length - 1)
  }
}

/** The given bytes, at most three, as a number. */
const restOf = (view: DataView, at: number, bytes: number): number =>
  view.getInt32(at, true) & ((1 << (bytes * 8)) - 1)

const indexes = new WeakMap<XmlVocabulary, NameIndex>()

const indexOf = (vocabulary: XmlVocabulary): NameIndex => {
  const known = indexes.get(vocabulary) ?? new NameIndex(vocabulary.names)
  indexes.set(vocabulary, known)
  return known
}

/** The names of one document: first those of the vocabulary, then those that only this document has. */
export class NameTable {
  readonly vocabulary: XmlVocabulary
  /** The names of the vocabulary, by their bytes. */
  readonly index: NameIndex
  private readonly own = new Map<string, number>()

  constructor(vocabulary: XmlVocabulary) {
    this.vocabulary = vocabulary
    this.index = indexOf(vocabulary)
  }

  /** Forgets the names that only the last document had. */
  reset(): void {
    if (this.own.size > 0) this.own.clear()
  }

  /** True for a name of the vocabulary, whose id holds for every document. */
  isKnown(id: number): boolean {
    return id < this.vocabulary.size
  }

  idOf(name: string): number {
    const known = this.vocabulary.idOf(name)
    if (known >= 0) return known
    const own = this.own.get(name) ?? this.vocabulary.size + this.own.size
    if (own === this.vocabulary.size + this.own.size) this.own.set(name, own)
    return own
  }
}
