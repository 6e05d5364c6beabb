import { CodecError } from '#codecs/bytes'
import { ABSENT, type XmlDocument } from '#codecs/xml'
import { parseCents } from './amount.ts'
import { nameIdOf } from './vocabulary.ts'

/** A rule that a message breaks, found while reading it. Holds no value of the message. */
export type ReadProblem = {
  /** XPath from the root; a position where siblings of that name repeat. */
  readonly path: string
  /** Byte offset of the element, or of the parent that lacks it. */
  readonly offset: number
  readonly rule: string
  readonly message: string
}

/** Problems listed for one message; the rest of a hopeless document tells nothing more. */
export const readProblemsMax = 100

/** The children of one element type. */
export type Shape = {
  readonly names: readonly string[]
  readonly nameIds: readonly number[]
  readonly required: readonly boolean[]
  readonly repeated: readonly boolean[]
}

/**
 * Declares an element's children in schema order: `?` an optional one, `*` and `+` a repeated one.
 *
 * @example shape('InstrId? EndToEndId TxId?')
 */
export const shape = (children: string): Shape => {
  const items = children.split(' ')
  const names = items.map((item) => item.replace(/[?*+]$/, ''))
  return {
    names,
    nameIds: names.map(nameIdOf),
    required: items.map((item) => !/[?*]$/.test(item)),
    repeated: items.map((item) => /[*+]$/.test(item)),
  }
}

/** The nodes found for a {@link Shape}, by position in it; -1 where absent. */
export type Slots = readonly number[]

export type Money = { readonly cents: bigint; readonly currency: string }

/** A chain of only children, each required: `leaf('FIId/FinInstnId/Othr/Id')`. */
export type Chain = { readonly names: readonly string[]; readonly nameIds: readonly number[] }

export const chain = (path: string): Chain => {
  const names = path.split('/')
  return { names, nameIds: names.map(nameIdOf) }
}

const currencyPattern = /^[A-Z]{3}$/

/**
 * Walks a scanned message by shapes and collects every problem instead of stopping at the first.
 *
 * A value that is missing reads as empty: the caller builds its object unconditionally and drops it when
 * {@link problems} is not empty. An absent element (-1) may be passed on everywhere; it has been reported
 * once, where it is missing.
 */
export class MessageReader {
  readonly problems: ReadProblem[] = []
  readonly #document: XmlDocument

  constructor(document: XmlDocument) {
    this.#document = document
  }

  /** The children of `node` by shape. Elements that the shape does not know are schema validation's matter. */
  slots(node: number, expected: Shape): Slots {
    const { nameIds } = expected
    const size = nameIds.length
    const found: number[] = []
    for (let i = 0; i < size; i++) found.push(ABSENT)
    if (node === ABSENT) return found
    const document = this.#document
    let hint = 0
    for (
      let child = document.firstChild(node);
      child !== ABSENT;
      child = document.nextSibling(child, node)
    ) {
      const id = document.nameId(child)
      let at = hint
      while (at < size && nameIds[at] !== id) at++
      if (at === size) at = nameIds.indexOf(id)
      if (at === ABSENT || !this.#sameNamespace(node, child)) continue
      hint = at
      if (found[at] === ABSENT) found[at] = child
      else if (!expected.repeated[at]) this.#report(child, 'duplicate', 'is given more than once')
    }
    for (let i = 0; i < size; i++) {
      if (found[i] === ABSENT && expected.required[i])
        this.#missing(node, [expected.names[i] ?? ''])
    }
    return found
  }

  /** `first` and the siblings of its name, as `read` makes them. */
  each<T>(parent: number, first: number, read: (node: number) => T): T[] {
    const all: T[] = []
    if (first === ABSENT) return all
    const document = this.#document
    const id = document.nameId(first)
    for (let node = first; node !== ABSENT; node = document.nextSibling(node, parent)) {
      if (document.nameId(node) === id) all.push(read(node))
    }
    return all
  }

  /** String value; empty where absent. */
  text(node: number | undefined): string {
    return node === undefined || node === ABSENT ? '' : this.#document.textOf(node)
  }

  optionalText(node: number | undefined): string | null {
    return node === undefined || node === ABSENT ? null : this.#document.textOf(node)
  }

  /** The text at the end of a chain beneath `node`; a break in the chain is reported where it is. */
  leaf(node: number | undefined, path: Chain): string {
    if (node === undefined || node === ABSENT) return ''
    const document = this.#document
    let at = node
    for (let i = 0; i < path.nameIds.length; i++) {
      const child = this.#only(at, path.nameIds[i] as number)
      if (child === ABSENT) {
        this.#missing(at, path.names.slice(i))
        return ''
      }
      at = child
    }
    return document.textOf(at)
  }

  optionalLeaf(node: number | undefined, path: Chain): string | null {
    return node === undefined || node === ABSENT ? null : this.leaf(node, path)
  }

  /** An `ActiveCurrencyAndAmount`: decimal content and the required attribute `Ccy`. */
  money(node: number | undefined): Money {
    if (node === undefined || node === ABSENT) return { cents: 0n, currency: '' }
    const document = this.#document
    const currency = document.attribute(node, 'Ccy') ?? ''
    if (currency === '') {
      this.#report(node, 'required', 'is missing', '/@Ccy')
    } else if (!currencyPattern.test(currency)) {
      this.#report(node, 'currency', 'is no ISO 4217 code', '/@Ccy')
    }
    try {
      return { cents: parseCents(document.textOf(node)), currency }
    } catch (error) {
      if (!(error instanceof CodecError)) throw error
      this.#report(node, error.code, error.message)
      return { cents: 0n, currency }
    }
  }

  /** The one child of that name; a second one is reported. */
  #only(node: number, nameId: number): number {
    const document = this.#document
    let found = ABSENT
    for (
      let child = document.firstChild(node);
      child !== ABSENT;
      child = document.nextSibling(child, node)
    ) {
      if (document.nameId(child) !== nameId || !this.#sameNamespace(node, child)) continue
      if (found === ABSENT) found = child
      else this.#report(child, 'duplicate', 'is given more than once')
    }
    return found
  }

  #sameNamespace(parent: number, child: number): boolean {
    return this.#document.namespaceId(parent) === this.#document.namespaceId(child)
  }

  #missing(parent: number, names: readonly string[]): void {
    this.#report(parent, 'required', 'is missing', `/${names.join('/')}`)
  }

  #report(node: number, rule: string, message: string, suffix = ''): void {
    if (this.problems.length === readProblemsMax) return
    const path = pathOf(this.#document, node) + suffix
    this.problems.push({ path, offset: this.#document.start(node), rule, message })
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
    sibling !== ABSENT;
    sibling = document.nextSibling(sibling, parent)
  ) {
    if (document.nameId(sibling) !== id) continue
    all++
    if (sibling <= child) before++
  }
  return { step: `/${document.localName(child)}${all > 1 ? `[${before}]` : ''}`, child }
}
