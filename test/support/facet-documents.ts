import { parsePattern } from '#codecs/iso20022'
import type { FacetRow, FacetTable } from './facets.ts'

/** A document beneath `Envelope`, why it was made, and where it breaks its table; undefined for a right one. */
export type FacetDocument = {
  readonly made: string
  readonly fault: string | undefined
  readonly xml: string
}

type Node = {
  readonly name: string
  readonly path: string
  readonly row: FacetRow
  readonly attributes: readonly Node[]
  /** Alternatives of what it holds; one for all but a choice. */
  readonly options: readonly (readonly Node[])[]
}

/** How one element of a document differs from the usual. */
type Change = {
  readonly path: string
  readonly count?: number
  readonly text?: string
  readonly option?: number
  readonly behind?: string
}

const parentOf = (path: string): string => path.slice(0, Math.max(0, path.lastIndexOf('/')))
const unmarked = (path: string): string => path.replace(/ \(s\d\)$/, '')

/** @param option ids of the paths whose siblings exclude each other */
const treeOf = (table: FacetTable, choices: ReadonlySet<string>, at: string): Node[][] => {
  const inside = [...table].filter(([path]) => parentOf(unmarked(path)) === at)
  const children = inside.filter(([, { kind }]) => kind !== 'attribute')
  const marks = [...new Set(children.map(([path]) => / \((s\d)\)$/.exec(path)?.[1]))]
  const nodes = (rows: typeof inside) =>
    rows.map(([path, row]) => nodeOf(table, choices, path, row))
  if (marks.length > 1) {
    return marks.map((mark) => nodes(children.filter(([path]) => path.endsWith(`(${mark})`))))
  }
  return choices.has(at) ? children.map((child) => nodes([child])) : [nodes(children)]
}

const nodeOf = (
  table: FacetTable,
  choices: ReadonlySet<string>,
  place: string,
  row: FacetRow,
): Node => {
  const path = unmarked(place)
  const attributes = [...table]
    .filter(([one, { kind }]) => kind === 'attribute' && parentOf(one) === path)
    .map(([one, of]) => nodeOf(new Map(), choices, one, of))
  const name = path.slice(path.lastIndexOf('/') + 1).replace('@', '')
  const options = row.kind === 'complex' ? treeOf(table, choices, path) : [[]]
  return { name, path: place, row, attributes, options }
}

/** Without it a document takes the other option of its choice. */
const marksOption = (table: FacetTable, path: string): boolean =>
  path !== unmarked(path) &&
  ![...table.keys()].some((other) => other !== path && unmarked(other) === unmarked(path))

const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;')

type Size = 'least' | 'most'

/** A shortest or a longest text of a pattern. */
const textOf = (node: ReturnType<typeof parsePattern>, size: Size, long: number): string => {
  switch (node.kind) {
    case 'set':
      return String.fromCodePoint(
        (node.set.at(-1) ?? 0) > 0xffff ? 0x61 : (node.set.at(size === 'least' ? 0 : -1) ?? 0),
      )
    case 'sequence':
      return node.items.map((item) => textOf(item, size, long)).join('')
    case 'choice':
      return textOf(node.items.at(size === 'least' ? 0 : -1)!, size, long)
    case 'repeat': {
      const most = node.max === Number.POSITIVE_INFINITY ? Math.max(node.min, long) : node.max
      return textOf(node.item, size, long).repeat(size === 'least' ? node.min : most)
    }
  }
}

const moments: Readonly<Record<string, readonly [least: string, most: string]>> = {
  dateTime: ['2026-03-02T00:00:00.000Z', '2024-02-29T23:59:59.999Z'],
  date: ['2026-03-02', '2024-02-29'],
  time: ['00:00:00.000Z', '23:59:59.999Z'],
  boolean: ['false', 'true'],
}

const numberOf = ({ totalDigits, fractionDigits }: FacetRow, size: Size): string => {
  if (size === 'least') return '0'
  const fraction = Number(fractionDigits || 0)
  return `${'9'.repeat(Number(totalDigits || 9) - fraction)}${fraction > 0 ? `.${'9'.repeat(fraction)}` : ''}`
}

/** @param turn how often the element was written before: repeats take the codes in turn */
const textFor = (row: FacetRow, size: Size, turn: number): string => {
  const codes = row.enum.split('|')
  if (row.enum !== '') return codes[turn % codes.length] ?? ''
  const moment = moments[row.base]
  if (moment !== undefined) return moment[size === 'least' ? 0 : 1]
  if (row.pattern !== '') return textOf(parsePattern(row.pattern), size, 10)
  if (row.base === 'decimal' || row.base === 'integer') return numberOf(row, size)
  const [least, most] = [Number(row.minLength || 0), Number(row.maxLength || 200)]
  return size === 'least' ? 'x'.repeat(least) : `é😀${'&'.repeat(Math.max(0, most - 2))}`
}

const countOf = (row: FacetRow, size: Size): number => {
  if (size === 'least') return Number(row.min)
  return row.max === 'unbounded' ? Math.max(2, Number(row.min)) : Number(row.max)
}

class Writer {
  readonly #size: Size
  readonly #change: Change | undefined
  readonly #turns = new Map<string, number>()

  constructor(size: Size, change: Change | undefined) {
    this.#size = size
    this.#change = change
  }

  /** The change applies to the first element at its path. */
  content(nodes: readonly Node[]): string {
    return nodes.map((node) => this.#element(node)).join('')
  }

  #element(node: Node): string {
    const change = this.#change?.path === node.path ? this.#change : undefined
    const needed = this.#change?.path.startsWith(`${unmarked(node.path)}/`) ? 1 : 0
    const count = change?.count ?? Math.max(countOf(node.row, this.#size), needed, change ? 1 : 0)
    const one = () => this.#one(node, change)
    return Array.from({ length: count }, one).join('') + (change?.behind ?? '')
  }

  #one(node: Node, change: Change | undefined): string {
    const { name, path, row, attributes, options } = node
    const turn = this.#turns.get(path) ?? 0
    this.#turns.set(path, turn + 1)
    const written = attributes.map((attribute) => {
      const of = this.#change?.path === attribute.path ? this.#change : undefined
      if (of?.count === 0) return ''
      return ` ${attribute.name}="${escaped(of?.text ?? textFor(attribute.row, this.#size, turn))}"`
    })
    const within = this.#optionOf(node, change)
    const inner =
      row.kind === 'complex'
        ? this.content(options[within] ?? [])
        : escaped(change?.text ?? textFor(row, this.#size, turn))
    return `<${name}${written.join('')}>${inner}</${name}>`
  }

  /** The option that leads to what is to be changed; the first where none does. */
  #optionOf({ options }: Node, change: Change | undefined): number {
    if (change?.option !== undefined) return change.option
    const target = this.#change?.path
    const leads = options.findIndex((nodes) =>
      nodes.some(({ path }) => target === path || target?.startsWith(`${unmarked(path)}/`)),
    )
    return Math.max(0, leads)
  }
}

const allOf = (nodes: readonly Node[]): readonly Node[] =>
  nodes.flatMap((node) => [node, ...node.attributes, ...node.options.flatMap(allOf)])

/** Right texts of a simple row beyond the usual: every code. */
const rightTexts = ({ enum: codes }: FacetRow): readonly string[] =>
  codes.includes('|') ? codes.split('|') : []

/** Texts that break exactly what a row says, by the name of the facet. */
const wrongTexts = (row: FacetRow): readonly (readonly [string, string])[] => {
  const right = textFor(row, 'least', 0)
  const texts: [string, string][] = []
  if (row.enum !== '') texts.push(['enum', `${row.enum.split('|')[0]}x`], ['enum', ''])
  if (row.pattern !== '') {
    const pattern = new RegExp(`^(?:${row.pattern})$`, 'u')
    const candidates = ['', `${right}_`, `_${right.slice(1)}`, right.slice(1), `${right}0`]
    for (const text of candidates) if (!pattern.test(text)) texts.push(['pattern', text])
  }
  if (row.base !== 'string') texts.push([row.base, 'x'])
  if (row.minLength !== '' && row.minLength !== '0')
    texts.push(['minLength', 'x'.repeat(Number(row.minLength) - 1)])
  if (row.maxLength !== '') {
    const longer = row.pattern === '' ? 'x'.repeat(Number(row.maxLength) + 1) : undefined
    const grown = longer ?? textOf(parsePattern(row.pattern), 'most', Number(row.maxLength))
    if (grown.length > Number(row.maxLength)) texts.push(['maxLength', grown])
  }
  if (row.totalDigits !== '') texts.push(['totalDigits', '1'.repeat(Number(row.totalDigits) + 1)])
  if (row.fractionDigits !== '')
    texts.push(['fractionDigits', `1.${'1'.repeat(Number(row.fractionDigits) + 1)}`])
  if (row.minInclusive !== '') texts.push(['minInclusive', String(Number(row.minInclusive) - 1)])
  return texts
}

/**
 * Documents made of a table: the least and the most that it admits, every code and every option, and one for each way
 * to break one row.
 *
 * @param choices paths whose children exclude each other
 */
export const documentsOfFacets = (
  table: FacetTable,
  choices: ReadonlySet<string>,
): readonly FacetDocument[] => {
  const [roots = []] = treeOf(table, choices, '')
  const documents: FacetDocument[] = []
  const add = (made: string, change?: Change, fault?: string, size: Size = 'least') => {
    const xml = new Writer(size, change).content(roots)
    documents.push({ made, fault, xml: `<Document>${xml}</Document>` })
  }
  add('the least')
  add('the most', undefined, undefined, 'most')
  for (const node of allOf(roots)) {
    const { path, row, options } = node
    for (const [option] of options.entries()) add(`option ${option} of ${path}`, { path, option })
    for (const text of rightTexts(row)) add(`${text} in ${path}`, { path, text })
    const place = unmarked(path)
    const around = parentOf(place)
    if (row.min !== '0' && !marksOption(table, path)) {
      add(`${path} missing`, { path, count: Number(row.min) - 1 }, around)
    }
    if (row.kind === 'attribute') {
      for (const [facet, text] of wrongTexts(row)) add(`${facet} of ${path}`, { path, text }, place)
      continue
    }
    if (row.max !== 'unbounded')
      add(`${path} too often`, { path, count: Number(row.max) + 1 }, around)
    add(`stranger behind ${path}`, { path, behind: '<Zz/>' }, around)
    if (row.kind === 'complex') continue
    for (const [facet, text] of wrongTexts(row)) add(`${facet} of ${path}`, { path, text }, place)
  }
  return documents
}
