import { CodecError } from '#codecs/bytes'
import { createXmlScanner, type XmlScanner } from '#codecs/xml'
import { withoutDoctype } from './doctype.ts'
import {
  type ElementDeclaration,
  type Particle,
  type Place,
  type QName,
  qName,
  SchemaError,
  type SchemaModel,
  type TypeDefinition,
} from './model.ts'
import { Declarations } from './xsd-declarations.ts'
import { XsdElement } from './xsd-element.ts'

/** Gives the bytes of a schema document by the location that another one names; undefined if there is none. */
export type SchemaSource = (location: string) => Uint8Array | undefined

/** Documents that may make up one schema. */
export const schemaDocumentsMax = 64

/** One schema document, read for one target namespace: its declarations and references, in order. */
type SchemaDocument = {
  readonly namespace: string
  readonly declared: readonly Declared[]
  readonly place: Place
}

type Declared =
  | { readonly kind: 'include'; readonly location: string }
  | {
      readonly kind: 'import'
      readonly location: string | undefined
      readonly namespace: string
      readonly place: Place
    }
  | { readonly kind: 'element'; readonly element: ElementDeclaration }
  | { readonly kind: 'type'; readonly name: QName; readonly type: TypeDefinition }
  | {
      readonly kind: 'group'
      readonly name: QName
      readonly particle: Particle
      readonly place: Place
    }

/** Included documents already read from the same source, so that each is read once. */
export type SchemaDocumentCache = {
  /** By name and namespace. */
  readonly documents: Map<string, SchemaDocument>
  readonly scanner: XmlScanner
}

export const createSchemaDocumentCache = (): SchemaDocumentCache => ({
  documents: new Map(),
  scanner: createXmlScanner(),
})

/**
 * Reads a schema document and all it includes and imports.
 *
 * A document without target namespace adopts that of the document that includes it (XML Schema part 1, 4.2.1), so that
 * shared types are written once for the namespaces of all message versions.
 *
 * @throws SchemaError with file and line, for anything malformed or not supported
 */
export const parseSchema = (
  file: string,
  source: SchemaSource,
  cache: SchemaDocumentCache = createSchemaDocumentCache(),
): SchemaModel => {
  const collector = new Collector(source, cache)
  const targetNamespace = collector.read(file, undefined)
  const { elements, types, groups } = collector
  return { targetNamespace, elements, types, groups }
}

class Collector {
  readonly elements = new Map<QName, ElementDeclaration>()
  readonly types = new Map<QName, TypeDefinition>()
  readonly groups = new Map<QName, Particle>()
  readonly #source: SchemaSource
  readonly #cache: SchemaDocumentCache
  readonly #read = new Set<string>()

  constructor(source: SchemaSource, cache: SchemaDocumentCache) {
    this.#source = source
    this.#cache = cache
  }

  /** @param adopted the namespace of the including document */
  read(file: string, adopted: string | undefined): string {
    const { namespace, declared, place } = this.#document(file, adopted)
    const key = `${file} ${namespace}`
    if (this.#read.has(key)) return namespace
    if (this.#read.size === schemaDocumentsMax) {
      throw errorAt(place, `more than ${schemaDocumentsMax} schema documents`)
    }
    this.#read.add(key)
    for (const declaration of declared) this.#add(declaration, namespace)
    return namespace
  }

  #document(file: string, adopted: string | undefined): SchemaDocument {
    if (adopted === undefined)
      return readDocument(file, this.#source(file), adopted, this.#cache.scanner)
    const key = `${file} ${adopted}`
    const known = this.#cache.documents.get(key)
    if (known !== undefined) return known
    const document = readDocument(file, this.#source(file), adopted, this.#cache.scanner)
    this.#cache.documents.set(key, document)
    return document
  }

  #add(declared: Declared, namespace: string): void {
    switch (declared.kind) {
      case 'include':
        this.read(declared.location, namespace)
        return
      case 'import':
        this.#import(declared.location, declared.namespace, declared.place)
        return
      case 'element': {
        const { name, place } = declared.element
        if (this.elements.has(name)) throw errorAt(place, `${name} is declared twice`)
        this.elements.set(name, declared.element)
        return
      }
      case 'type': {
        const { name, type } = declared
        if (this.types.has(name)) throw errorAt(type.place, `${name} is declared twice`)
        this.types.set(name, type)
        return
      }
      case 'group': {
        const { name, particle, place } = declared
        if (this.groups.has(name)) throw errorAt(place, `${name} is declared twice`)
        this.groups.set(name, particle)
        return
      }
    }
  }

  #import(location: string | undefined, wanted: string, place: Place): void {
    if (location === undefined || this.#source(location) === undefined) return
    const namespace = this.read(location, undefined)
    if (namespace !== wanted) throw errorAt(place, `${location} has the namespace ${namespace}`)
  }
}

const errorAt = ({ file, line }: Place, message: string): SchemaError =>
  new SchemaError(file, line, message)

const readDocument = (
  file: string,
  bytes: Uint8Array | undefined,
  adopted: string | undefined,
  scanner: XmlScanner,
): SchemaDocument => {
  const root = rootOf(file, bytes, adopted, scanner)
  const own = root.attribute('targetNamespace')
  const namespace = own ?? adopted ?? ''
  if (adopted !== undefined && own !== undefined && own !== adopted) {
    throw root.error(`targetNamespace is not ${adopted}, that of the including document`)
  }
  const qualified = root.attribute('elementFormDefault') === 'qualified'
  const qualifiedAttributes = root.attribute('attributeFormDefault') === 'qualified'
  const declarations = new Declarations(namespace, qualified, qualifiedAttributes)
  const declared = root.children().map((child) => declaration(child, declarations, namespace))
  return { namespace, declared, place: root.place }
}

const rootOf = (
  file: string,
  bytes: Uint8Array | undefined,
  adopted: string | undefined,
  scanner: XmlScanner,
): XsdElement => {
  if (bytes === undefined) throw new SchemaError(file, 0, 'there is no such schema document')
  try {
    const document = scanner.scan(withoutDoctype(file, bytes))
    const root = new XsdElement(document, document.root, file, new Map(), adopted)
    if (root.name !== 'schema') throw root.error('the root is not <schema>')
    return root
  } catch (error) {
    if (!(error instanceof CodecError)) throw error
    throw new SchemaError(file, 0, `not well-formed at byte ${error.offset}: ${error.message}`)
  }
}

const declaration = (
  child: XsdElement,
  declarations: Declarations,
  namespace: string,
): Declared => {
  const named = () => qName(namespace, child.required('name'))
  switch (child.name) {
    case 'include':
      return { kind: 'include', location: child.required('schemaLocation') }
    case 'import':
      return {
        kind: 'import',
        location: child.attribute('schemaLocation'),
        namespace: child.attribute('namespace') ?? '',
        place: child.place,
      }
    case 'element':
      return { kind: 'element', element: declarations.element(child, true) }
    case 'complexType':
    case 'simpleType':
      return { kind: 'type', name: named(), type: declarations.type(child) }
    case 'group': {
      const [particle, ...more] = child.children()
      if (particle === undefined || more.length > 0) {
        throw child.error('a group holds one particle')
      }
      const { place } = child
      return { kind: 'group', name: named(), particle: declarations.particle(particle), place }
    }
    default:
      throw child.error(`<${child.name}> is not supported`)
  }
}
