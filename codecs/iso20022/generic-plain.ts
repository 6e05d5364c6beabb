import { absent, nodeKind, type XmlDocument } from '#codecs/xml'

/** The member that names an element's namespace in a plain object, if it differs from that of the element around it. */
export const namespaceMember = '@xmlns'

/** Attributes as JSON members; namespace declarations and attributes of other namespaces have no place in it. */
export const attributesAsJson = (document: XmlDocument, node: number): Record<string, unknown> => {
  const value: Record<string, unknown> = {}
  const first = document.firstAttribute(node)
  for (let at = first; at < first + document.attributeCount(node); at++) {
    const name = document.attributeName(at)
    if (document.isNamespaceDeclaration(at) || name.includes(':')) continue
    define(value, `@${name}`, document.attributeValue(at))
  }
  return value
}

/** Defines an own member, whatever its name. */
const define = (value: Record<string, unknown>, name: string, inner: unknown): void => {
  Object.defineProperty(value, name, {
    value: inner,
    enumerable: true,
    configurable: true,
    writable: true,
  })
}

/** Adds a child; one that came before becomes an array with it. */
export const addChild = (
  value: Record<string, unknown>,
  name: string,
  inner: unknown,
  repeated: boolean,
): void => {
  const before = Object.hasOwn(value, name) ? value[name] : undefined
  if (Array.isArray(before)) before.push(inner)
  else if (before !== undefined) define(value, name, [before, inner])
  else define(value, name, repeated ? [inner] : inner)
}

/**
 * An element of which no schema is known: a string where it has text alone, else an object; children of one name are an
 * array where there are several.
 *
 * @param outer the namespace of the element around it
 */
export const plainJson = (document: XmlDocument, node: number, outer: string): unknown => {
  const value: Record<string, unknown> = {}
  const namespace = document.namespaceUri(node)
  if (namespace !== outer) value[namespaceMember] = namespace
  Object.assign(value, attributesAsJson(document, node))
  const child = document.firstChild(node)
  if (child === absent) {
    const text = document.textOf(node)
    if (Object.keys(value).length === 0) return text
    value['#text'] = text
    return value
  }
  addText(document, node, value)
  for (let at = child; at !== absent; at = document.nextSibling(at, node)) {
    addChild(value, document.localName(at), plainJson(document, at, namespace), false)
  }
  return value
}

/** The text between children, if it is more than white space. */
export const addText = (
  document: XmlDocument,
  node: number,
  value: Record<string, unknown>,
): void => {
  let text = ''
  const limit = document.next(node)
  for (let at = node + 1; at < limit; at = document.next(at)) {
    const kind = document.kind(at)
    if (kind === nodeKind.text || kind === nodeKind.cdata) text += document.textOf(at)
  }
  if (/[^ \t\r\n]/.test(text)) value['#text'] = text
}

/** Whether a JSON value can be an element of another namespace: it names one. */
export const isPlain = (value: unknown): boolean =>
  typeof value === 'object' &&
  value !== null &&
  typeof Object.getOwnPropertyDescriptor(value, namespaceMember)?.value === 'string'
