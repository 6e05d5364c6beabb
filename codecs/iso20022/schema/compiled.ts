import type { SimpleValidator } from './simple.ts'
import type { Wildcard } from './wildcard.ts'

/** Ints of one edge of a content automaton. */
export const edgeStride = 4
/** Id of the element's name; {@link anyName} for a wildcard. */
export const edgeName = 0
/** Index into {@link CompiledSchema.namespaces}; for a wildcard, index into `wildcards`. */
export const edgeNamespace = 1
/** Index into {@link CompiledSchema.elements}. */
export const edgeElement = 2
export const edgeNext = 3

export const anyName = -2

export type CompiledAttribute = {
  readonly name: string
  readonly namespace: string
  readonly validator: SimpleValidator
  readonly required: boolean
  readonly fixed: string | undefined
}

/** One child of a type in the order of the schema; `repeated` where it can occur more than once. */
export type Member = {
  readonly name: string
  readonly element: number
  readonly required: boolean
  readonly repeated: boolean
}

export type CompiledType = {
  /** Simple content; undefined for element content and for empty content. */
  readonly simple: SimpleValidator | undefined
  /** First state of the content automaton; -1 for simple content. */
  readonly state: number
  readonly mixed: boolean
  readonly attributes: readonly CompiledAttribute[]
  readonly anyAttribute: boolean
  /** True if the type has no attribute of its own. */
  readonly plain: boolean
  readonly members: readonly Member[]
  /** True if the content is one strict wildcard: then its members are the wildcard's global elements. */
  readonly wildcardMembers: boolean
}

export type CompiledUnique = {
  readonly name: string
  readonly selector: readonly ElementName[]
  readonly fields: readonly (readonly ElementName[])[]
}

export type ElementName = { readonly namespace: string; readonly name: string }

export type CompiledElement = {
  readonly name: string
  readonly namespace: string
  readonly type: number
  readonly fixed: string | undefined
  readonly unique: readonly CompiledUnique[]
}

/** A schema as flat tables: states and edges of all content models, and the types they lead to. */
export type CompiledSchema = {
  readonly targetNamespace: string
  readonly namespaces: readonly string[]
  readonly types: readonly CompiledType[]
  readonly elements: readonly CompiledElement[]
  /** Global elements: index into `elements`, by qualified name. */
  readonly globals: ReadonlyMap<string, number>
  /** The same as edges without a target: name, namespace and element, {@link edgeStride} ints each. */
  readonly globalNames: Int32Array
  readonly wildcards: readonly Wildcard[]
  readonly edges: Int32Array
  /** First edge of a state; the next entry is where its edges end. */
  readonly stateEdges: Int32Array
  /** 1 if the content may end in this state. */
  readonly stateAccepts: Uint8Array
  /** Names outside the scanner's vocabulary: ids from `vocabularySize` on. */
  readonly vocabularySize: number
  readonly otherNames: ReadonlyMap<string, number>
}
