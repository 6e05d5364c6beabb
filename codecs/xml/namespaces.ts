import { xmlError } from './errors.ts'
import type { Source } from './source.ts'

const xmlNamespace = 'http://www.w3.org/XML/1998/namespace'
const xmlnsNamespace = 'http://www.w3.org/2000/xmlns/'

export const noNamespaceId = 0
const xmlNamespaceId = 1
export const xmlnsNamespaceId = 2

const predefinedIds: ReadonlyMap<string, number> = new Map([
  ['', noNamespaceId],
  [xmlNamespace, xmlNamespaceId],
])

type Binding = {
  readonly prefix: string
  readonly id: number
  readonly depth: number
  /** The binding that it hides. */
  readonly outer: Binding | undefined
}

/** The bindings in scope while a document is scanned, and the URIs it names. */
export class Namespaces {
  /** The namespace of elements without a prefix. */
  defaultId = noNamespaceId
  /** The depth of the innermost element with declarations; 0 if there is none. */
  innermost = 0
  /** By id. */
  uris: string[] = []
  private readonly ids = new Map<string, number>()
  private readonly bindings: Binding[] = []
  /** The innermost binding of each prefix: elements within elements may bind thousands. */
  private readonly bound = new Map<string, Binding>()
  /** Where the prefix of the last look-up stands, its bytes, and its namespace; none once bindings have changed. */
  lastAt = 0
  lastBytes = 0
  lastId = noNamespaceId

  reset(): void {
    this.defaultId = noNamespaceId
    this.innermost = 0
    this.uris = ['', xmlNamespace, xmlnsNamespace]
    this.ids.clear()
    if (this.bindings.length > 0) {
      this.bindings.length = 0
      this.bound.clear()
    }
    this.lastBytes = 0
  }

  /** Declares a prefix (`''` for the default namespace) for an element at this depth. */
  declare(prefix: string, uri: string, depth: number, offset: number): void {
    const isXml = prefix === 'xml'
    if (
      prefix === 'xmlns' ||
      uri === xmlnsNamespace ||
      isXml !== (uri === xmlNamespace) ||
      (uri === '' && prefix !== '')
    ) {
      throw xmlError('namespace_invalid', offset)
    }
    const id = this.idOf(uri)
    const binding = { prefix, id, depth, outer: this.bound.get(prefix) }
    this.bindings.push(binding)
    this.bound.set(prefix, binding)
    this.lastBytes = 0
    this.innermost = depth
    if (prefix === '') this.defaultId = id
  }

  /** Ends the scope of what an element at this depth declared. */
  leave(depth: number): void {
    const { bindings, bound } = this
    let last = bindings.at(-1)
    for (; last?.depth === depth; last = bindings.at(-1)) {
      bindings.pop()
      if (last.outer === undefined) bound.delete(last.prefix)
      else bound.set(last.prefix, last.outer)
    }
    this.lastBytes = 0
    this.innermost = last?.depth ?? 0
    this.defaultId = bound.get('')?.id ?? noNamespaceId
  }

  /** The namespace of a prefix; `''` stands for none. @param offset of the name that has it */
  ofPrefix(prefix: string, offset: number): number {
    if (prefix === '') return this.defaultId
    const binding = this.bound.get(prefix)
    if (binding !== undefined) return binding.id
    if (prefix === 'xml') return xmlNamespaceId
    throw xmlError('prefix_unbound', offset)
  }

  /** The namespace of the prefix of so many bytes at `at`: mostly that of the element before. */
  ofPrefixAt(source: Source, at: number, bytes: number): number {
    if (bytes === 0) return this.defaultId
    if (bytes === this.lastBytes && source.sameBytes(at, this.lastAt, bytes)) return this.lastId
    this.lastId = this.ofPrefix(source.string(at, at + bytes), at)
    this.lastAt = at
    this.lastBytes = bytes
    return this.lastId
  }

  private idOf(uri: string): number {
    const known = this.ids.get(uri) ?? predefinedIds.get(uri)
    if (known !== undefined) return known
    const id = this.uris.push(uri) - 1
    this.ids.set(uri, id)
    return id
  }
}
