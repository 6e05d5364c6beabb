import { xmlError } from './errors.ts'

export const xmlNamespace = 'http://www.w3.org/XML/1998/namespace'
export const xmlnsNamespace = 'http://www.w3.org/2000/xmlns/'

export const noNamespaceId = 0
export const xmlNamespaceId = 1
export const xmlnsNamespaceId = 2

type Binding = {
  readonly prefix: string
  readonly id: number
  readonly depth: number
}

/** The bindings in scope while a document is scanned, and the URIs it names. */
export class Namespaces {
  /** Of unprefixed elements. */
  defaultId = noNamespaceId
  /** The depth of the innermost element with declarations; 0 where there is none. */
  innermost = 0
  #uris: string[] = []
  #ids = new Map<string, number>()
  #bindings: Binding[] = []

  reset(): void {
    this.defaultId = noNamespaceId
    this.innermost = 0
    this.#uris = ['', xmlNamespace, xmlnsNamespace]
    this.#ids.clear()
    this.#bindings = []
  }

  taken(): readonly string[] {
    return this.#uris
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
    this.#bindings.push({ prefix, id: this.#intern(uri), depth })
    this.innermost = depth
    if (prefix === '') this.defaultId = this.#intern(uri)
  }

  /** Ends the scope of what an element at this depth declared. */
  leave(depth: number): void {
    const bindings = this.#bindings
    while (bindings.length > 0 && bindings[bindings.length - 1]?.depth === depth) bindings.pop()
    this.innermost = bindings[bindings.length - 1]?.depth ?? 0
    this.defaultId = bindings.findLast(({ prefix }) => prefix === '')?.id ?? noNamespaceId
  }

  /** The namespace of the prefix in `bytes[start, end)`. */
  ofPrefix(bytes: Uint8Array, start: number, end: number): number {
    const bindings = this.#bindings
    for (let i = bindings.length - 1; i >= 0; i--) {
      const binding = bindings[i] as Binding
      if (isPrefix(binding.prefix, bytes, start, end)) return binding.id
    }
    if (isPrefix('xml', bytes, start, end)) return xmlNamespaceId
    throw xmlError('prefix_unbound', start)
  }

  #intern(uri: string): number {
    if (uri === '') return noNamespaceId
    if (uri === xmlNamespace) return xmlNamespaceId
    const known = this.#ids.get(uri)
    if (known !== undefined) return known
    const id = this.#uris.length
    this.#uris.push(uri)
    this.#ids.set(uri, id)
    return id
  }
}

/** Prefixes beyond ASCII are rare; then bytes and characters differ and the slow way is taken. */
const isPrefix = (prefix: string, bytes: Uint8Array, start: number, end: number): boolean => {
  if (prefix.length !== end - start) return sameBeyondAscii(prefix, bytes, start, end)
  for (let i = 0; i < prefix.length; i++) {
    if (prefix.charCodeAt(i) !== bytes[start + i]) return false
  }
  return true
}

const sameBeyondAscii = (prefix: string, bytes: Uint8Array, start: number, end: number): boolean =>
  prefix.length < end - start && new TextDecoder().decode(bytes.subarray(start, end)) === prefix
