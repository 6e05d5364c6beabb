import { type CompiledSchema, parsePattern } from '#codecs/iso20022'
import { shapedSignature } from './messages.ts'
import type { Random } from './mutations.ts'

type Node = ReturnType<typeof parsePattern>

const fixed: Readonly<Record<string, string>> = {
  dateTime: '2026-03-02T14:05:09.123Z',
  date: '2026-03-02',
  time: '14:05:09.123Z',
  boolean: 'true',
  decimal: '10.50',
  integer: '12345',
  base64Binary: 'Zm9v',
  anyURI: 'urn:a',
  ID: 'key',
}

/** A text that a pattern matches. */
const textOf = (node: Node, random: Random): string => {
  switch (node.kind) {
    case 'set': {
      const last = node.set[node.set.length - 1] as number
      // A set such as that of a dot holds what XML does not.
      if (last > 0xffff) return random.pick(['a', 'é', '7', '😀', '-'])
      const range = random.next(node.set.length / 2) * 2
      const from = node.set[range] as number
      const to = node.set[range + 1] as number
      return String.fromCodePoint(from + random.next(to - from + 1))
    }
    case 'sequence':
      return node.items.map((item) => textOf(item, random)).join('')
    case 'choice':
      return textOf(random.pick(node.items), random)
    case 'repeat': {
      const more = random.next(Math.min(node.max - node.min, 3) + 1)
      return Array.from({ length: node.min + more }, () => textOf(node.item, random)).join('')
    }
  }
}

const words = ['a', 'Order 42', 'Ação & <reação>', ' spaced ', '"quoted"', '😀', 'x > y']

/** With digests as base64 demands them: the last character of one has no bits to spare. */
const usualSignature = shapedSignature.replaceAll('q=', 'A=')

/**
 * A random document that a schema admits, in canonical form, by a walk through its content models.
 *
 * @param random decides which elements there are, and what they hold where there is no `values`
 * @param ownSignature true to let chance make the signature too, which may have what ours never have
 * @param texts what stands where any text may
 */
export const generateMessage = (
  schema: CompiledSchema,
  random: Random,
  {
    ownSignature = false,
    values = random,
    texts = words,
  }: {
    readonly ownSignature?: boolean
    readonly values?: Random
    readonly texts?: readonly string[]
  } = {},
): string => {
  const inText = (text: string): string =>
    text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')

  const simple = (type: CompiledSchema['types'][number]): string => {
    const limits = type.simple?.limits
    if (limits === undefined) return ''
    if (limits.enumeration !== undefined) return values.pick(limits.enumeration)
    const value = fixed[limits.builtIn.primitive === 'name' ? 'ID' : limits.builtIn.primitive]
    const [pattern] = limits.patterns
    if (pattern !== undefined && !/^(?:dateTime|date|time)$/.test(limits.builtIn.primitive)) {
      return textOf(parsePattern(pattern.written), values)
    }
    return value ?? values.pick(texts).slice(0, limits.maxLength)
  }

  const element = (index: number, outer: string): string => {
    const { name, namespace, type: typeIndex } = schema.elements[index]!
    const type = schema.types[typeIndex]!
    const isMessage = namespace === schema.targetNamespace
    const tag = isMessage ? name : `ds:${name}`
    const declared = namespace === outer ? '' : ` xmlns${isMessage ? '' : ':ds'}="${namespace}"`
    const attributes = type.attributes
      .filter(({ required }) => required || random.next(2) === 0)
      .map(
        (attribute) => ` ${attribute.name}="${simple({ ...type, simple: attribute.validator })}"`,
      )
      .sort()
      .join('')
    const content =
      type.simple === undefined ? children(type.state, namespace) : inText(simple(type))
    return `<${tag}${declared}${attributes}>${content}</${tag}>`
  }

  const signature = (): string =>
    ownSignature
      ? element(
          schema.globals.get('{http://www.w3.org/2000/09/xmldsig#}Signature') ?? -1,
          schema.targetNamespace,
        )
      : usualSignature

  const children = (from: number, namespace: string): string => {
    let xml = ''
    let state = from
    for (let count = 0; ; count++) {
      const first = schema.stateEdges[state] as number
      const edges = (schema.stateEdges[state + 1] as number) - first
      if (edges === 0 || (schema.stateAccepts[state] && random.next(8 + count) > 4)) return xml
      // The last edge leads on where the others repeat or leave nothing out.
      const edge = (first + (count > 6 ? edges - 1 : random.next(edges))) * 4
      const target = schema.edges[edge + 2] as number
      const wildcard =
        target === -1 ? schema.wildcards[schema.edges[edge + 1] as number] : undefined
      if (wildcard === undefined) xml += element(target, namespace)
      else if (namespace === schema.targetNamespace) xml += signature()
      else if (wildcard.processContents === 'lax') xml += '<note xmlns="urn:other">seen</note>'
      else if (schema.stateAccepts[state]) return xml
      state = schema.edges[edge + 3] as number
    }
  }

  const root = schema.globals.get(`{${schema.targetNamespace}}Envelope`) as number
  return `<?xml version="1.0" encoding="UTF-8"?>${element(root, '')}`
}
