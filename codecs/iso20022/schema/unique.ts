import type { Run } from './attributes.ts'
import type { CompiledUnique, ElementName } from './compiled.ts'

/**
 * Reports each element selected by `xs:unique` that repeats the fields of an earlier one. An element that lacks a field
 * does not count (XML Schema part 1, 3.11.4). Values are compared as text.
 */
export const checkUnique = (
  run: Run,
  node: number,
  constraints: readonly CompiledUnique[],
): void => {
  for (const { name, selector, fields } of constraints) {
    const seen = new Set<string>()
    for (const selected of follow(run, [node], selector)) {
      const values = fields.map((field) => follow(run, [selected], field)[0])
      if (values.includes(undefined)) continue
      const key = values.map((value) => run.document.textOf(value as number)).join('\u0000')
      if (seen.has(key)) run.report(selected, 'unique', 'a repeated value', `unique by ${name}`)
      seen.add(key)
    }
  }
}

const follow = (
  run: Run,
  from: readonly number[],
  path: readonly ElementName[],
): readonly number[] => {
  const { document } = run
  let nodes = from
  for (const { namespace, name } of path) {
    const found: number[] = []
    for (const node of nodes) {
      for (const child of document.childrenOf(node)) {
        if (document.localName(child) === name && document.namespaceUri(child) === namespace) {
          found.push(child)
        }
      }
    }
    nodes = found
  }
  return nodes
}
