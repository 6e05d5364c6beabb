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

/** The names of one document: first those of the vocabulary, then those that only this document has. */
export class NameTable {
  readonly vocabulary: XmlVocabulary
  private readonly own = new Map<string, number>()

  constructor(vocabulary: XmlVocabulary) {
    this.vocabulary = vocabulary
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
