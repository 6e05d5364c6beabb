import { absent, type XmlDocument } from '#codecs/xml'
import { type BusinessHeader, readEnvelope } from './envelope.ts'
import { type Layout, layout } from './layout.ts'
import type { MessageReader } from './reader.ts'

/**
 * One member of a typed message: its path beneath the element it belongs to, and how to read it.
 *
 * In the path, `?` marks a step that may be absent; then the member is null. Members mark the steps they share alike.
 */
export type Field<T> = {
  readonly path: string
  /** @param node the node at the path's end, @param parent the element above it; either may be absent. */
  readonly read: (reader: MessageReader, node: number, parent: number) => T
}

/** The values of the members of a record. */
export type RecordOf<F> = { readonly [K in keyof F]: F[K] extends Field<infer T> ? T : never }

type Fields = Readonly<Record<string, Field<unknown>>>

type Maybe<P extends string, T> = P extends `${string}?${string}` ? T | null : T

/** Null if the path is marked and leads nowhere; any other absence has been reported already. */
const field = <P extends string, T>(
  path: P,
  read: (reader: MessageReader, node: number) => T,
): Field<Maybe<P, T>> => {
  const isOptional = path.includes('?')
  return {
    path,
    read: (reader, node) =>
      (isOptional && node === absent ? null : read(reader, node)) as Maybe<P, T>,
  }
}

/** Text as written. */
export const text = <P extends string>(path: P) => field(path, (reader, node) => reader.text(node))

/** Text that is one of `codes`. */
export const code = <P extends string>(path: P, codes: readonly string[]) =>
  field(path, (reader, node) => reader.code(node, codes))

/** An amount with its currency, in cents. */
export const money = <P extends string>(path: P) =>
  field(path, (reader, node) => reader.money(node))

/** `xs:boolean`. */
export const flag = <P extends string>(path: P) => field(path, (reader, node) => reader.flag(node))

/** Members that belong together. */
export const one = <P extends string, F extends Fields>(path: P, fields: F) => {
  const read = recordReader(fields)
  return field(path, read)
}

/** An element that may be given many times. */
export const many = <F extends Fields>(path: string, fields: F): Field<readonly RecordOf<F>[]> => {
  const read = recordReader(fields)
  return {
    path,
    read: (reader, node, parent) => reader.each(parent, node, (item) => read(reader, item)),
  }
}

/** The texts of an element that may be given many times. */
export const texts = (path: string): Field<readonly string[]> => ({
  path,
  read: (reader, node, parent) => reader.each(parent, node, (one) => reader.text(one)),
})

type Member = {
  readonly name: string
  readonly read: Field<unknown>['read']
  readonly item: number
  readonly parent: number
}

const membersOf = (fields: Fields, expected: Layout): readonly Member[] =>
  Object.entries(fields).map(([name, { path, read }]) => {
    const plain = path.replace(/[?*+]/g, '')
    const above = plain.slice(0, Math.max(0, plain.lastIndexOf('/')))
    return { name, read, item: expected.at(plain), parent: above === '' ? 0 : expected.at(above) }
  })

/** The layout is made with the first message, because most types never come. */
const recordReader = <F extends Fields>(fields: F) => {
  let made: { readonly expected: Layout; readonly members: readonly Member[] } | undefined
  const make = () => {
    const expected = layoutOf(fields)
    return { expected, members: membersOf(fields, expected) }
  }
  return (reader: MessageReader, node: number): RecordOf<F> => {
    made ??= make()
    const found = reader.find(node, made.expected)
    const record: Record<string, unknown> = {}
    for (const { name, read, item, parent } of made.members) {
      record[name] = read(reader, found[item] ?? absent, found[parent] ?? absent)
    }
    return record as RecordOf<F>
  }
}

type Step = { readonly mark: string; readonly steps: Map<string, Step> }

const layoutOf = (fields: Fields): Layout => {
  const root: Step = { mark: '', steps: new Map() }
  for (const { path } of Object.values(fields)) {
    let at = root
    for (const step of path.split('/')) {
      const name = step.replace(/[?*+]$/, '')
      const mark = step.slice(name.length)
      const known = at.steps.get(name)
      if (known !== undefined && known.mark !== mark) {
        throw new Error(`shape: ${path} marks ${name} differently than another path`)
      }
      const next = known ?? { mark, steps: new Map<string, Step>() }
      at.steps.set(name, next)
      at = next
    }
  }
  return layout(written(root))
}

/** Writes a step as {@link layout} reads it. */
const written = ({ steps }: Step): string =>
  [...steps]
    .map(([name, step]) => {
      const [only, ...more] = step.steps.values()
      if (only === undefined) return name + step.mark
      const inner = written(step)
      const isChain = more.length === 0 && only.mark === ''
      return `${name}${step.mark}${isChain ? `/${inner}` : `(${inner})`}`
    })
    .join(' ')

/** A message of a type: its header, and the members of its document. */
export type MessageOf<T extends string, F> = {
  readonly type: T
  readonly version: string
  readonly header: BusinessHeader
} & RecordOf<F>

/**
 * Makes the reader of a type, whose document holds one element; it leaves problems in the `MessageReader`.
 *
 * @param root the name of that element
 */
export const messageReader = <const T extends string, F extends Fields>(
  type: T,
  root: string,
  fields: F,
) => {
  const read = recordReader({ content: one(root, fields) })
  return (reader: MessageReader, xml: XmlDocument, version: string): MessageOf<T, F> => {
    const { header, document } = readEnvelope(reader, xml)
    const content = read(reader, document).content as RecordOf<F>
    return { type, version, header, ...content }
  }
}
