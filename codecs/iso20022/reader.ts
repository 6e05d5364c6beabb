import { CodecError } from '#codecs/bytes'
import { absent, type XmlDocument } from '#codecs/xml'
import { parseCents } from './amount.ts'
import type { Layout } from './layout.ts'

/** A rule that a message breaks, found while reading it. Holds no value of the message. */
export type ReadProblem = {
  /** XPath from the root, with positions where siblings of one name repeat. */
  readonly path: string
  /** Byte offset of the element, or of the parent that lacks it. */
  readonly offset: number
  readonly rule: string
  readonly message: string
}

/** Problems listed for one message; further ones would not help anyone. */
export const readProblemsMax = 100

/** The nodes found for a {@link Layout}, by item; -1 if absent. */
export type Slots = readonly number[]

export type Money = { readonly cents: bigint; readonly currency: string }

const currencyPattern = /^[A-Z]{3}$/

/**
 * Walks a scanned message by layouts and collects every problem instead of stopping at the first.
 *
 * A missing value reads as empty: the caller builds its object unconditionally, and drops it if {@link problems} is not
 * empty. Every method takes an absent element (-1), whose absence has been reported already.
 */
export class MessageReader {
  readonly problems: ReadProblem[] = []
  private readonly document: XmlDocument
  private readonly leavesOut: boolean
  /** All problems, listed or not, and those of items that were left out. */
  private found = 0
  private leftOut = 0
  private isInItem = false

  /** @param leavesOut true to leave out items with a problem, if they stand in no other item */
  constructor(document: XmlDocument, leavesOut = false) {
    this.document = document
    this.leavesOut = leavesOut
  }

  /** Whether all that was not left out could be read. */
  get isSound(): boolean {
    return this.found === this.leftOut
  }

  /** Finds the items of a layout beneath `node`. Unknown elements are left to schema validation. */
  find(node: number, expected: Layout): Slots {
    if (node === absent) return expected.nothing
    const known = this.knownOf(expected)
    const before = known?.get(node)
    if (before !== undefined) return before
    const slots = expected.nothing.slice()
    slots[0] = node
    this.descend(node, expected, 0, slots)
    // Keep nothing that had a problem, so that the next reading reports it again.
    if (this.problems.length === 0) known?.set(node, slots)
    return slots
  }

  /** The slots beneath each node of a document of this shape: the markup alone tells where each item stands. */
  private knownOf(expected: Layout): Map<number, Slots> | undefined {
    const notes = this.document.shape?.notes
    if (notes === undefined) return undefined
    const known = notes.get(expected) as Map<number, Slots> | undefined
    if (known !== undefined) return known
    const made = new Map<number, Slots>()
    notes.set(expected, made)
    return made
  }

  private descend(parent: number, expected: Layout, item: number, slots: number[]): void {
    const { document } = this
    const { nameIds, first, end } = expected
    const start = first[item] as number
    const stop = end[item] as number
    const limit = document.next(parent)
    const namespace = document.namespaceId(parent)
    let hint = start
    for (let child = parent + 1; child < limit; child = document.next(child)) {
      if (document.isElement(child)) {
        const id = document.nameId(child)
        let found = hint
        while (found < stop && nameIds[found] !== id) found++
        if (found === stop) {
          // The element is out of order or unknown.
          found = start
          while (found < hint && nameIds[found] !== id) found++
          if (found === hint) found = stop
        }
        if (found !== stop && document.namespaceId(child) === namespace) {
          hint = found
          if (slots[found] === absent) {
            slots[found] = child
            if (first[found] !== end[found]) this.descend(child, expected, found, slots)
          } else if (expected.repeated[found] === 0) {
            this.report(child, 'duplicate', 'is given more than once')
          }
        }
      }
    }
    for (let one = start; one < stop; one++) {
      if (slots[one] === absent && expected.required[one] === 1) {
        this.report(parent, 'required', 'is missing', `/${expected.chains[one]}`)
      }
    }
  }

  /** Applies `read` to `first` and to its siblings of the same name. */
  each<T>(
    parent: number | undefined,
    first: number | undefined,
    read: (node: number) => T,
  ): readonly T[] {
    const all: T[] = []
    if (parent === undefined || first === undefined || first === absent) return all
    const document = this.document
    const id = document.nameId(first)
    const namespace = document.namespaceId(first)
    const one = this.leavesOut && !this.isInItem ? this.itemReader(read, all) : undefined
    for (let node = first; node !== absent; node = document.nextSibling(node, parent)) {
      if (document.nameId(node) !== id || document.namespaceId(node) !== namespace) continue
      if (one === undefined) all.push(read(node))
      else one(node)
    }
    return all
  }

  private itemReader<T>(read: (node: number) => T, all: T[]): (node: number) => void {
    return (node) => {
      const before = this.found
      this.isInItem = true
      const item = read(node)
      this.isInItem = false
      if (this.found === before) all.push(item)
      else this.leftOut += this.found - before
    }
  }

  /** String value; empty if absent. */
  text(node: number | undefined): string {
    return node === undefined || node === absent ? '' : this.document.textOf(node)
  }

  optionalText(node: number | undefined): string | null {
    return node === undefined || node === absent ? null : this.document.textOf(node)
  }

  /** String value, one of `codes`; empty if absent. */
  code(node: number, codes: readonly string[]): string {
    const text = this.text(node)
    if (node !== absent && !codes.includes(text)) {
      this.report(node, 'enum', `is none of ${codes.join(', ')}`)
    }
    return text
  }

  /** An `ActiveCurrencyAndAmount`: decimal content and the required attribute `Ccy`. */
  money(node: number | undefined): Money {
    if (node === undefined || node === absent) return { cents: 0n, currency: '' }
    const document = this.document
    const currency = document.attribute(node, 'Ccy') ?? ''
    if (currency === '') {
      this.report(node, 'required', 'is missing', '/@Ccy')
    } else if (!currencyPattern.test(currency)) {
      this.report(node, 'currency', 'is no ISO 4217 code', '/@Ccy')
    }
    try {
      return { cents: parseCents(document.textOf(node)), currency }
    } catch (error) {
      if (!(error instanceof CodecError)) throw error
      this.report(node, error.code, error.message)
      return { cents: 0n, currency }
    }
  }

  /** An `xs:boolean`. */
  flag(node: number): boolean {
    const text = this.text(node).trim()
    if (text === 'true' || text === '1') return true
    if (node !== absent && text !== 'false' && text !== '0') {
      this.report(node, 'boolean', 'is neither true nor false')
    }
    return false
  }

  private report(node: number, rule: string, message: string, suffix = ''): void {
    this.found++
    if (this.problems.length === readProblemsMax) return
    const path = pathOf(this.document, node) + suffix
    this.problems.push({ path, offset: this.document.start(node), rule, message })
  }
}

/**
 * `/Envelope/Document/FIToFICstmrCdtTrf/CdtTrfTxInf[2]/PmtId`: local names, positions where they repeat.
 * One descent from the root, so that a hostile document costs at most its own length.
 */
export const pathOf = (document: XmlDocument, node: number): string => {
  let path = `/${document.localName(document.root)}`
  let above = document.root
  while (above !== node) {
    const { step, child } = stepTowards(document, above, node)
    path += step
    above = child
  }
  return path
}

/** The child of `parent` that is `node` or holds it, as a step of an XPath. */
const stepTowards = (
  document: XmlDocument,
  parent: number,
  node: number,
): { readonly step: string; readonly child: number } => {
  let child = document.firstChild(parent)
  while (node >= document.next(child)) child = document.nextSibling(child, parent)
  const id = document.nameId(child)
  let before = 0
  let all = 0
  for (
    let sibling = document.firstChild(parent);
    sibling !== absent;
    sibling = document.nextSibling(sibling, parent)
  ) {
    if (document.nameId(sibling) !== id) continue
    all++
    if (sibling <= child) before++
  }
  return { step: `/${document.localName(child)}${all > 1 ? `[${before}]` : ''}`, child }
}
