import type { XmlDocument } from '#codecs/xml'
import type { CompiledAttribute, CompiledType } from './compiled.ts'
import { type Report, shapeOf, shownName, type ViolationRule } from './violation.ts'

const xsiNamespace = 'http://www.w3.org/2001/XMLSchema-instance'
const harmlessXsi = new Set(['schemaLocation', 'noNamespaceSchemaLocation'])

export type Run = { readonly document: XmlDocument; readonly report: Report }

/** Checks the attributes of one element, without namespace declarations. */
export const checkAttributes = (run: Run, node: number, type: CompiledType): void => {
  const { document } = run
  const known = new Set<CompiledAttribute>()
  for (const at of document.attributesOf(node)) {
    if (document.isNamespaceDeclaration(at)) continue
    const written = document.attributeName(at)
    const name = written.slice(written.indexOf(':') + 1)
    const namespace = document.namespaces[document.attributeNamespaceId(at)] as string
    const declared = type.attributes.find(
      (attribute) => attribute.name === name && attribute.namespace === namespace,
    )
    if (declared !== undefined) {
      known.add(declared)
      checkValue(run, node, at, declared)
    } else if (namespace === xsiNamespace) {
      if (!harmlessXsi.has(name)) {
        run.report(node, 'xsi', shownName(written), 'no such attribute', `/@${shownName(name)}`)
      }
    } else if (!type.anyAttribute) {
      run.report(node, 'attribute-unknown', shownName(written), expectedNames(type), suffix(name))
    }
  }
  for (const attribute of type.attributes) {
    const { name, required } = attribute
    if (!required || known.has(attribute)) continue
    run.report(node, 'attribute-missing', 'nothing', name, suffix(name))
  }
}

const suffix = (name: string): string => `/@${shownName(name)}`

const expectedNames = ({ attributes }: CompiledType): string =>
  attributes.length === 0 ? 'no attribute' : attributes.map(({ name }) => name).join(' | ')

const checkValue = (
  run: Run,
  node: number,
  at: number,
  { name, validator, fixed }: CompiledAttribute,
): void => {
  const value = run.document.attributeValue(at)
  for (const { rule, expected } of validator.faults(value)) {
    run.report(node, rule as ViolationRule, shapeOf(value), expected, suffix(name))
  }
  if (fixed !== undefined && validator.key(value) !== validator.key(fixed)) {
    run.report(node, 'fixed', shapeOf(value), fixed, suffix(name))
  }
}
