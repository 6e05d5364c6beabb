import { absent, lineColumnAt, type XmlDocument } from '#codecs/xml'
import { type Place, type QName, qName, SchemaError, xsdNamespace } from './model.ts'

/** One element of a schema document, with the namespaces in scope. */
export class XsdElement {
  readonly name: string
  readonly #document: XmlDocument
  readonly #node: number
  readonly #file: string
  readonly #scope: ReadonlyMap<string, string>
  /** The includer's namespace, if the document has none of its own. */
  readonly #adopted: string | undefined

  constructor(
    document: XmlDocument,
    node: number,
    file: string,
    outer: ReadonlyMap<string, string>,
    adopted: string | undefined,
  ) {
    this.#document = document
    this.#node = node
    this.#file = file
    this.#adopted = adopted
    this.#scope = scopeOf(document, node, outer)
    this.name = document.localName(node)
    if (document.namespaceUri(node) !== xsdNamespace)
      throw this.error(`<${this.name}> is no XSD element`)
  }

  /** Element children, annotations left out. */
  children(): XsdElement[] {
    const document = this.#document
    const found: XsdElement[] = []
    for (
      let child = document.firstChild(this.#node);
      child !== absent;
      child = document.nextSibling(child, this.#node)
    ) {
      const element = new XsdElement(document, child, this.#file, this.#scope, this.#adopted)
      if (element.name !== 'annotation') found.push(element)
    }
    return found
  }

  attribute(name: string): string | undefined {
    return this.#document.attribute(this.#node, name)
  }

  required(name: string): string {
    const value = this.attribute(name)
    if (value === undefined) throw this.error(`<${this.name}> lacks ${name}`)
    return value
  }

  /** False if it is absent. */
  boolean(name: string): boolean {
    const value = this.attribute(name)?.trim() ?? 'false'
    if (value === 'true' || value === '1') return true
    if (value === 'false' || value === '0') return false
    throw this.error(`${name} is true or false`)
  }

  /** Resolves a name in an attribute by the namespaces in scope. */
  reference(written: string): QName {
    const colon = written.indexOf(':')
    const prefix = colon === -1 ? '' : written.slice(0, colon)
    const namespace = this.#scope.get(prefix)
    if (namespace === undefined && prefix !== '') throw this.error(`prefix ${prefix} is not bound`)
    return qName(namespace || (this.#adopted ?? ''), written.slice(colon + 1))
  }

  /** Refuses attributes whose effect would be ignored. */
  only(...allowed: readonly string[]): void {
    const document = this.#document
    const first = document.firstAttribute(this.#node)
    for (let at = first; at < first + document.attributeCount(this.#node); at++) {
      if (document.isNamespaceDeclaration(at)) continue
      const name = document.attributeName(at)
      if (name.includes(':') || name === 'id' || allowed.includes(name)) continue
      throw this.error(`${name} of <${this.name}> is not supported`)
    }
  }

  /** Its line is counted only when an error needs it. */
  get place(): Place {
    const { bytes } = this.#document
    const end = this.#document.start(this.#node)
    return {
      file: this.#file,
      get line() {
        return lineColumnAt(bytes, end).line
      },
    }
  }

  error(message: string): SchemaError {
    const { file, line } = this.place
    return new SchemaError(file, line, message)
  }
}

const scopeOf = (
  document: XmlDocument,
  node: number,
  outer: ReadonlyMap<string, string>,
): ReadonlyMap<string, string> => {
  let scope: Map<string, string> | undefined
  const first = document.firstAttribute(node)
  for (let at = first; at < first + document.attributeCount(node); at++) {
    if (!document.isNamespaceDeclaration(at)) continue
    scope ??= new Map(outer)
    scope.set(document.attributeName(at).slice('xmlns:'.length), document.attributeValue(at))
  }
  return scope ?? outer
}
