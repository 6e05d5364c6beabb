import { nameIdOf } from './vocabulary.ts'

/**
 * An element and the items read beneath it, as a flat table. Item 0 is the element; the items of one parent stand
 * together, in schema order.
 */
export type Layout = {
  /** By item: the local name; empty for item 0. */
  readonly names: readonly string[]
  readonly nameIds: Int32Array
  readonly required: Uint8Array
  /** By item: 1 if it may repeat. This layout finds only the first; another one reads each of them. */
  readonly repeated: Uint8Array
  /** By item: the first of the items beneath it, and the one after the last. */
  readonly first: Int32Array
  readonly end: Int32Array
  /** By item: the names down to the end of the chain that it begins, to report its absence. */
  readonly chains: readonly string[]
  /** The initial result: -1 for each item. */
  readonly nothing: readonly number[]
  /** The item at a path beneath the element, as `PmtId/EndToEndId`. */
  readonly at: (path: string) => number
}

type Item = {
  readonly name: string
  readonly required: boolean
  readonly repeated: boolean
  readonly items: readonly Item[]
  /** Written with a slash: this item exists only for the one beneath it. */
  readonly isStep: boolean
}

/**
 * Declares the items to read beneath an element, in schema order: `?` marks an optional item, `*` and `+` a repeated
 * one. Items beneath stand in parentheses, or behind a slash if there is only one and it is required.
 *
 * @example layout('PmtId(InstrId? EndToEndId TxId?) Dbtr(Nm? Id/PrvtId/Othr/Id)')
 */
export const layout = (text: string): Layout => {
  const tokens = text.match(/[A-Za-z0-9.]+|[?*+/()]/g) ?? []
  const root: Item = {
    name: '',
    required: true,
    repeated: false,
    items: parseItems(tokens),
    isStep: false,
  }
  if (tokens.length > 0) throw new Error(`layout: ${tokens.join(' ')} is left over`)
  return flatten(root)
}

const parseItems = (tokens: string[]): readonly Item[] => {
  const items: Item[] = []
  while (tokens.length > 0 && tokens[0] !== ')') items.push(parseItem(tokens))
  return items
}

const parseItem = (tokens: string[]): Item => {
  const name = tokens.shift() ?? ''
  const mark = /^[?*+]$/.test(tokens[0] ?? '') ? tokens.shift() : undefined
  const isStep = tokens[0] === '/'
  let items: readonly Item[] = []
  if (isStep) {
    tokens.shift()
    items = [parseItem(tokens)]
  } else if (tokens[0] === '(') {
    tokens.shift()
    items = parseItems(tokens)
    if (tokens.shift() !== ')') throw new Error(`layout: ${name} is not closed`)
  }
  return {
    name,
    required: mark !== '?' && mark !== '*',
    repeated: mark === '*' || mark === '+',
    items,
    isStep,
  }
}

const flatten = (root: Item): Layout => {
  const all: Item[] = [root]
  const paths = ['']
  const first: number[] = []
  for (let at = 0; at < all.length; at++) {
    first.push(all.length)
    for (const item of (all[at] as Item).items) {
      all.push(item)
      paths.push(paths[at] === '' ? item.name : `${paths[at]}/${item.name}`)
    }
  }
  return {
    names: all.map(({ name }) => name),
    nameIds: Int32Array.from(all, ({ name }) => (name === '' ? -1 : nameIdOf(name))),
    required: Uint8Array.from(all, ({ required }) => (required ? 1 : 0)),
    repeated: Uint8Array.from(all, ({ repeated }) => (repeated ? 1 : 0)),
    first: Int32Array.from(first),
    end: Int32Array.from(first, (start, at) => start + (all[at] as Item).items.length),
    chains: all.map(chainOf),
    nothing: all.map(() => -1),
    at: (path) => {
      const item = paths.indexOf(path)
      if (item === -1) throw new Error(`layout: there is no ${path}`)
      return item
    },
  }
}

const chainOf = (item: Item): string =>
  item.isStep ? `${item.name}/${chainOf(item.items[0] as Item)}` : item.name
