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

type Binding = { readonly prefix: string; readonly id: number; readonly depth: number }

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
  /** Where the prefix stands that was looked for last, its bytes, and its namespace; none if bindings have changed. */
  lastAt = 0
  lastBytes = 0
  lastId = noNamespaceId

  reset(): void {
    this.defaultId = noNamespaceId
    this.innermost = 0
    this.uris = ['', xmlNamespace, xmlnsNamespace]
    this.ids.clear()
    if (this.bindings.length > 0) this.bindings.length = 0
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
    this.bindings.push({ prefix, id, depth })
    this.lastBytes = 0
    this.innermost = depth
    if (prefix === '') this.defaultId = id
  }

  /** Ends the scope of what an element at this depth declared. */
  leave(depth: number): void {
    const { bindings } = this
    while (bindings.at(-1)?.depth === depth) bindings.pop()
    this.lastBytes = 0
    this.innermost = bindings.at(-1)?.depth ?? 0
    this.defaultId = bindings.findLast(({ prefix }) => prefix === '')?.id ?? noNamespaceId
  }

  /** The namespace of a prefix; `''` stands for none. @param offset of the name that has it */
  ofPrefix(prefix: string, offset: number): number {
    if (prefix === '') return this.defaultId
    const { bindings } = this
    for (let i = bindings.length - 1; i >= 0; i--) {
      const binding = bindings[i] as Binding
      if (binding.prefix === prefix) return binding.id
    }
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
