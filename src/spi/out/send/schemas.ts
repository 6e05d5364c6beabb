import { type ZodType, z } from 'zod'
import type { BuildableMessage } from '#codecs/iso20022'
import { type Parameter, sendParameters } from './parameters.ts'

/** One parameter and the parameters within it. */
type Node = {
  readonly name: string
  readonly isList: boolean
  needed: boolean
  what: string
  readonly within: Map<string, Node>
}

const newNode = (name: string, isList: boolean): Node => ({
  name,
  isList,
  needed: false,
  what: '',
  within: new Map<string, Node>(),
})

/** The parameters of a message as a tree. */
const treeOf = (parameters: readonly Parameter[]): Node => {
  const root = newNode('', false)
  const lists = new Set(
    parameters.flatMap(([path]) =>
      [...path.matchAll(/\[\]/g)].map(({ index }) => path.slice(0, index)),
    ),
  )
  for (const [path, need, what] of parameters) {
    let at = root
    let name = ''
    for (const step of path.split('.')) {
      const plain = step.replace('[]', '')
      name += name === '' ? plain : `.${plain}`
      const next = at.within.get(plain) ?? newNode(plain, lists.has(name))
      at.within.set(plain, next)
      at = next
      name += step.endsWith('[]') ? '[]' : ''
    }
    at.needed = need === 'yes'
    at.what = what
  }
  return root
}

const severalTexts = /or 1 to \d+ such texts/

const leafOf = ({ name, what }: Node): ZodType => {
  if (/(?:^|_)amount$/.test(name)) return z.int().nonnegative()
  // A choice between a text and a list is code that does not compile to some generators of clients.
  return severalTexts.test(what) ? z.unknown().meta({ description: what }) : z.string()
}

const schemaOf = (node: Node): ZodType => {
  const one = node.within.size === 0 ? leafOf(node) : objectOf([...node.within.values()])
  const all = node.isList ? z.array(one) : one
  const described = all.meta({ description: node.what })
  return node.needed ? described : described.optional()
}

const objectOf = (nodes: readonly Node[]): ZodType =>
  z.strictObject(Object.fromEntries(nodes.map((node) => [node.name, schemaOf(node)])))

const alternativeList = /instead of one\.$/

/**
 * The parameters of a message, for the OpenAPI document; the builders decide. A message that takes several in a list
 * also takes one alone, but never both.
 */
export const paramsSchemaOf = (messageType: BuildableMessage): ZodType => {
  const nodes = [...treeOf(sendParameters[messageType]).within.values()]
  const list = nodes.find(({ what }) => alternativeList.test(what))
  if (list === undefined) return objectOf(nodes)
  const alone = nodes.filter((node) => node !== list)
  return z.union([objectOf(alone), objectOf([{ ...list, needed: true }])])
}
