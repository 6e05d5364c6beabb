/** What an XSD document declares, as written: names not yet resolved. */

export const xsdNamespace = 'http://www.w3.org/2001/XMLSchema'

/** `{namespace}local`; a name in no namespace has empty braces. */
export type QName = string

export const qName = (namespace: string, local: string): QName => `{${namespace}}${local}`

export const localOf = (name: QName): string => name.slice(name.indexOf('}') + 1)

export const namespaceIn = (name: QName): string => name.slice(1, name.indexOf('}'))

/** Where a component stands, for errors. */
export type Place = { readonly file: string; readonly line: number }

export type Facet = { readonly name: string; readonly value: string; readonly place: Place }

export type SimpleType = {
  readonly kind: 'simple'
  readonly base: QName | SimpleType
  readonly facets: readonly Facet[]
  readonly place: Place
}

export type AttributeUse = {
  readonly name: QName
  readonly type: QName | SimpleType
  readonly required: boolean
  readonly fixed: string | undefined
}

export type ComplexType = {
  readonly kind: 'complex'
  readonly mixed: boolean
  /** Content of elements; undefined for empty and for simple content. */
  readonly particle: Particle | undefined
  /** The type that `simpleContent` extends or restricts. */
  readonly simpleContent: QName | undefined
  readonly facets: readonly Facet[]
  /** The type that this one is derived from, if any; equal to `simpleContent` if that is defined. */
  readonly extends: QName | undefined
  /** A restriction keeps the attributes of its base unless it says otherwise. */
  readonly restricts: QName | undefined
  readonly attributes: readonly AttributeUse[]
  /** Names of attributes of the base that a restriction leaves out. */
  readonly prohibited: readonly QName[]
  readonly anyAttribute: boolean
  readonly place: Place
}

export type TypeDefinition = SimpleType | ComplexType

/** `maxOccurs="unbounded"`. */
export const unbounded = Number.POSITIVE_INFINITY

export type Occurs = { readonly min: number; readonly max: number }

export type Particle = Occurs &
  (
    | { readonly kind: 'sequence' | 'choice'; readonly items: readonly Particle[] }
    | { readonly kind: 'element'; readonly element: ElementDeclaration }
    | { readonly kind: 'element-ref'; readonly name: QName; readonly place: Place }
    | { readonly kind: 'group-ref'; readonly name: QName; readonly place: Place }
    | {
        readonly kind: 'any'
        readonly namespaces: AnyNamespaces
        readonly processContents: 'strict' | 'lax' | 'skip'
        readonly place: Place
      }
  )

/** The namespaces a wildcard admits. */
export type AnyNamespaces =
  | { readonly kind: 'any' }
  | { readonly kind: 'not'; readonly namespace: string }
  | { readonly kind: 'list'; readonly namespaces: readonly string[] }

export type ElementDeclaration = {
  readonly name: QName
  readonly type: QName | TypeDefinition
  readonly fixed: string | undefined
  readonly unique: readonly UniqueConstraint[]
  readonly place: Place
}

/** `xs:unique` whose selector and fields are child steps. */
export type UniqueConstraint = {
  readonly name: string
  readonly selector: readonly QName[]
  readonly fields: readonly (readonly QName[])[]
}

/** All components of the documents that make up one schema. */
export type SchemaModel = {
  readonly targetNamespace: string
  readonly elements: ReadonlyMap<QName, ElementDeclaration>
  readonly types: ReadonlyMap<QName, TypeDefinition>
  readonly groups: ReadonlyMap<QName, Particle>
}

/** A schema that cannot be read or uses what is not supported. Says the file and the line. */
export class SchemaError extends Error {
  override readonly name = 'SchemaError'
  readonly file: string
  /** From 1; 0 if the fault has no single place. */
  readonly line: number

  constructor(file: string, line: number, message: string) {
    super(`${file}${line > 0 ? `:${line}` : ''}: ${message}`)
    this.file = file
    this.line = line
  }
}
