import { absent, nodeKind, type XmlDocument } from '#codecs/xml'

// Exclusive XML Canonicalization 1.0 (https://www.w3.org/TR/xml-exc-c14n/) of one element.
// An element declares the prefixes that it visibly uses, and those of the InclusiveNamespaces
// PrefixList that are in scope, unless the nearest output ancestor declares them alike.

/** The identifier of the default namespace in a PrefixList. */
const defaultPrefix = '#default'

/**
 * @property omit - a descendant that is left out with all beneath it
 * @property inclusivePrefixes - InclusiveNamespaces PrefixList; `#default` for the default namespace
 * @property comments - keeps comments (the "WithComments" form)
 */
export type CanonicalOptions = {
  readonly omit?: number
  readonly inclusivePrefixes?: readonly string[]
  readonly comments?: boolean
}

type Bindings = ReadonlyMap<string, string>
type Attribute = { readonly name: string; readonly uri: string; readonly value: string }

const textEscapes: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '\r': '&#xD;',
}
const valueEscapes: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '"': '&quot;',
  '\t': '&#x9;',
  '\n': '&#xA;',
  '\r': '&#xD;',
}

const escapeText = (text: string): string =>
  /[&<>\r]/.test(text) ? text.replace(/[&<>\r]/g, (char) => textEscapes[char]!) : text

const escapeValue = (text: string): string =>
  /[&<"\t\n\r]/.test(text) ? text.replace(/[&<"\t\n\r]/g, (char) => valueEscapes[char]!) : text

const prefixOf = (name: string): string => {
  const colon = name.indexOf(':')
  return colon < 0 ? '' : name.slice(0, colon)
}

/** Compares by code point, which is the order of the octets of UTF-8. */
const compare = (a: string, b: string): number => {
  if (a === b) return 0
  const [left, right] = [[...a], [...b]]
  for (let i = 0; ; i++) {
    const difference = (left[i]?.codePointAt(0) ?? -1) - (right[i]?.codePointAt(0) ?? -1)
    if (difference !== 0) return difference
  }
}

const compareAttributes = (a: Attribute, b: Attribute): number => {
  const local = (name: string) => name.slice(name.indexOf(':') + 1)
  return compare(a.uri, b.uri) || compare(local(a.name), local(b.name))
}

/** One canonicalisation: its input, and the text so far. */
class Canonicaliser {
  readonly #document: XmlDocument
  readonly #omit: number
  readonly #inclusive: ReadonlySet<string>
  readonly #comments: boolean
  #out = ''

  constructor(document: XmlDocument, options: CanonicalOptions) {
    this.#document = document
    this.#omit = options.omit ?? absent
    this.#inclusive = new Set(
      (options.inclusivePrefixes ?? []).map((prefix) => (prefix === defaultPrefix ? '' : prefix)),
    )
    this.#comments = options.comments ?? false
  }

  run(node: number): string {
    this.#element(node, this.#scopeAbove(node), new Map([['', '']]))
    return this.#out
  }

  /** The bindings that the ancestors of the apex declare; only a PrefixList needs them. */
  #scopeAbove(apex: number): Bindings {
    let scope: Bindings = new Map([['', '']])
    if (this.#inclusive.size === 0) return scope
    const document = this.#document
    for (let node = document.root; node !== apex; ) {
      if (apex < document.next(node)) {
        scope = this.#declared(node, scope)
        node += 1
      } else node = document.next(node)
    }
    return scope
  }

  /** The scope inside an element. */
  #declared(node: number, outer: Bindings): Bindings {
    const document = this.#document
    if (!document.isElement(node)) return outer
    const first = document.firstAttribute(node)
    let scope: Map<string, string> | undefined
    for (let at = first; at < first + document.attributeCount(node); at++) {
      if (!document.isNamespaceDeclaration(at)) continue
      scope ??= new Map(outer)
      const name = document.attributeName(at)
      scope.set(name === 'xmlns' ? '' : name.slice('xmlns:'.length), document.attributeValue(at))
    }
    return scope ?? outer
  }

  #attributes(node: number): Attribute[] {
    const document = this.#document
    const count = document.attributeCount(node)
    if (count === 0) return []
    const found: Attribute[] = []
    const first = document.firstAttribute(node)
    for (let at = first; at < first + count; at++) {
      if (document.isNamespaceDeclaration(at)) continue
      found.push({
        name: document.attributeName(at),
        uri: document.namespaces[document.attributeNamespaceId(at)]!,
        value: document.attributeValue(at),
      })
    }
    return found.length > 1 ? found.sort(compareAttributes) : found
  }

  /** The bindings that this element has to declare, given those of its output ancestors. */
  #needed(
    name: string,
    uri: string,
    attributes: readonly Attribute[],
    scope: Bindings,
    rendered: Bindings,
  ): ReadonlyMap<string, string> | undefined {
    let needed: Map<string, string> | undefined
    const need = (prefix: string, to: string): void => {
      if (prefix === 'xml' || rendered.get(prefix) === to) return
      needed ??= new Map()
      needed.set(prefix, to)
    }
    need(prefixOf(name), uri)
    for (const attribute of attributes) {
      const prefix = prefixOf(attribute.name)
      if (prefix !== '') need(prefix, attribute.uri)
    }
    for (const prefix of this.#inclusive) {
      const bound = scope.get(prefix)
      if (bound !== undefined) need(prefix, bound)
    }
    return needed
  }

  #element(node: number, outer: Bindings, renderedAbove: Bindings): void {
    const document = this.#document
    const scope = this.#inclusive.size === 0 ? outer : this.#declared(node, outer)
    const name = document.qualifiedName(node)
    const attributes = this.#attributes(node)
    const needed = this.#needed(name, document.namespaceUri(node), attributes, scope, renderedAbove)
    this.#out += `<${name}`
    let rendered = renderedAbove
    if (needed !== undefined) {
      rendered = new Map([...renderedAbove, ...needed])
      for (const [prefix, uri] of [...needed].sort(([a], [b]) => compare(a, b))) {
        this.#out += ` ${prefix === '' ? 'xmlns' : `xmlns:${prefix}`}="${escapeValue(uri)}"`
      }
    }
    for (const attribute of attributes) {
      this.#out += ` ${attribute.name}="${escapeValue(attribute.value)}"`
    }
    this.#out += '>'
    const limit = document.next(node)
    for (let child = node + 1; child < limit; child = document.next(child)) {
      if (child === this.#omit) continue
      switch (document.kind(child)) {
        case nodeKind.element:
          this.#element(child, scope, rendered)
          break
        case nodeKind.comment:
          if (this.#comments) this.#comment(child)
          break
        default:
          this.#out += escapeText(document.textOf(child))
      }
    }
    this.#out += `</${name}>`
  }

  #comment(node: number): void {
    const document = this.#document
    const raw = document.raw(document.start(node), document.end(node))
    this.#out += raw.includes('\r') ? raw.replace(/\r\n?/g, '\n') : raw
  }
}

const encoder = new TextEncoder()

/**
 * The exclusive canonical form of an element: octets in UTF-8.
 *
 * @example exclusiveC14n(scanner.scan(bytes), document.root)
 */
export const exclusiveC14n = (
  document: XmlDocument,
  node: number,
  options: CanonicalOptions = {},
): Uint8Array => encoder.encode(new Canonicaliser(document, options).run(node))
