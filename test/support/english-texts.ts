import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type AnyNode, parse } from 'acorn'
import { root } from './program.ts'

/** What a placeholder of a template becomes, as in the catalogue. */
const hole = '{}'

const transpiler = new Bun.Transpiler({ loader: 'ts', deadCodeElimination: false })

const isNode = (value: unknown): value is AnyNode =>
  typeof value === 'object' && value !== null && 'type' in value

const visit = (node: AnyNode, seen: (one: AnyNode) => void): void => {
  seen(node)
  for (const value of Object.values(node)) {
    for (const one of Array.isArray(value) ? value : [value]) if (isNode(one)) visit(one, seen)
  }
}

/** The texts that an expression may be: of a condition both. */
const textsOf = (node: AnyNode | null | undefined): readonly string[] => {
  switch (node?.type) {
    case 'Literal':
      return typeof node.value === 'string' ? [node.value] : []
    case 'TemplateLiteral':
      return [node.quasis.map(({ value }) => value.cooked ?? '').join(hole)]
    case 'ConditionalExpression':
      return [...textsOf(node.consequent), ...textsOf(node.alternate)]
    default:
      return []
  }
}

const keyOf = (node: AnyNode): string =>
  node.type === 'Identifier' ? node.name : node.type === 'Literal' ? String(node.value) : ''

/** Names of members and constants that hold what an error says. */
const saying = new Set(['message', 'told', 'detail', 'error', 'expected'])
/** Functions of whose arguments one says what is wrong. */
const refusing = /^(?:refuse|refused|add|rejected|restrictedBy|unusable|notReady|patternForm)$/
/** One word names a field or a rule. */
const isSaid = (text: string): boolean => text.includes(' ')

const textsIn = (source: string): readonly string[] => {
  const found: string[] = []
  visit(
    parse(transpiler.transformSync(source), { ecmaVersion: 'latest', sourceType: 'module' }),
    (node) => {
      if (node.type === 'NewExpression' && keyOf(node.callee) === 'ApiError') {
        found.push(...textsOf(node.arguments[1]))
      }
      if (node.type === 'Property' && saying.has(keyOf(node.key)))
        found.push(...textsOf(node.value))
      if (node.type === 'VariableDeclarator' && saying.has(keyOf(node.id))) {
        found.push(...textsOf(node.init))
      }
      if (node.type !== 'CallExpression') return
      const { callee } = node
      const name = keyOf(callee.type === 'MemberExpression' ? callee.property : callee)
      if (name === 'regex' || name === 'refine') found.push(...textsOf(node.arguments[1]))
      if (refusing.test(name)) found.push(...node.arguments.flatMap(textsOf).filter(isSaid))
    },
  )
  return found
}

/** Every text of the sources of these folders that an answer may tell a caller what is wrong with, by file. */
export const englishTexts = (
  folders: readonly string[],
  isAsked: (file: string) => boolean,
): ReadonlyMap<string, readonly string[]> =>
  new Map(
    folders.flatMap((folder) =>
      readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
        .filter((name) => name.endsWith('.ts') && !/\.d\.ts$|generated/.test(name))
        .map((name) => join(folder, name))
        .filter(isAsked)
        .map((name) => [name, textsIn(readFileSync(join(root, name), 'utf8'))] as const)
        .filter(([, texts]) => texts.length > 0),
    ),
  )
