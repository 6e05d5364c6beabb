import type { CompiledSchema, ElementName } from './compiled.ts'
import { type AnyNamespaces, localOf, namespaceIn, qName } from './model.ts'

/** The same schema with another target namespace: message versions that differ only in that share tables and types. */
export const withNamespace = (schema: CompiledSchema, namespace: string): CompiledSchema => {
  const { targetNamespace } = schema
  const renamed = (uri: string): string => (uri === targetNamespace ? namespace : uri)
  const renamedName = (name: ElementName): ElementName => ({
    ...name,
    namespace: renamed(name.namespace),
  })
  const renamedAny = (any: AnyNamespaces): AnyNamespaces => {
    if (any.kind === 'any') return any
    return any.kind === 'not'
      ? { kind: 'not', namespace: renamed(any.namespace) }
      : { kind: 'list', namespaces: any.namespaces.map(renamed) }
  }
  return {
    ...schema,
    targetNamespace: namespace,
    namespaces: schema.namespaces.map(renamed),
    types: schema.types.map((type) =>
      type.attributes.some((attribute) => attribute.namespace === targetNamespace)
        ? {
            ...type,
            attributes: type.attributes.map((attribute) => ({
              ...attribute,
              namespace: renamed(attribute.namespace),
            })),
          }
        : type,
    ),
    elements: schema.elements.map((element) => ({
      ...element,
      namespace: renamed(element.namespace),
      unique: element.unique.map(({ name, selector, fields }) => ({
        name,
        selector: selector.map(renamedName),
        fields: fields.map((field) => field.map(renamedName)),
      })),
    })),
    globals: new Map(
      [...schema.globals].map(([name, element]) => [
        qName(renamed(namespaceIn(name)), localOf(name)),
        element,
      ]),
    ),
    wildcards: schema.wildcards.map((wildcard) => ({
      ...wildcard,
      namespaces: renamedAny(wildcard.namespaces),
    })),
  }
}
