import type { XmlVocabulary } from '#codecs/xml'
import { type Automaton, buildAutomaton, type Leaf, type ResolvedParticle } from './automaton.ts'
import {
  anyName,
  type CompiledAttribute,
  type CompiledElement,
  type CompiledSchema,
  type CompiledType,
  type CompiledUnique,
  edgeStride,
} from './compiled.ts'
import { membersOf } from './members.ts'
import {
  type AttributeUse,
  type ComplexType,
  type ElementDeclaration,
  localOf,
  namespaceIn,
  type Particle,
  type Place,
  type QName,
  qName,
  SchemaError,
  type SchemaModel,
  type SimpleType,
  type TypeDefinition,
  type UniqueConstraint,
  xsdNamespace,
} from './model.ts'
import {
  compileSimpleType,
  createSimpleTypeCache,
  type SimpleTypeCache,
  SimpleValidator,
} from './simple.ts'
import type { Wildcard } from './wildcard.ts'

export type CompileOptions = {
  /** The vocabulary of the scanner whose documents are validated. */
  readonly vocabulary: XmlVocabulary
  /** Components of namespaces that strict wildcards lead to. */
  readonly imports?: readonly SchemaModel[]
  readonly simpleTypes?: SimpleTypeCache
}

/**
 * Compiles all components that the global elements of a schema reach.
 *
 * @throws SchemaError with file and line for an unknown name or an ambiguous content model
 */
export const compileSchema = (model: SchemaModel, options: CompileOptions): CompiledSchema =>
  new Compiler(model, options).schema()

class Compiler {
  readonly #model: SchemaModel
  readonly #imports: readonly SchemaModel[]
  readonly #vocabulary: XmlVocabulary
  readonly #simpleTypes: SimpleTypeCache
  readonly #namespaces: string[] = []
  readonly #types: CompiledType[] = []
  readonly #typeIds = new Map<TypeDefinition | QName, number>()
  readonly #elements: CompiledElement[] = []
  readonly #elementIds = new Map<ElementDeclaration, number>()
  readonly #simple = new Map<SimpleType | QName, SimpleValidator>()
  readonly #waiting: (() => void)[] = []
  readonly #wildcards: Wildcard[] = []
  readonly #edges: number[] = []
  readonly #stateEdges: number[] = []
  readonly #accepts: number[] = []
  readonly #otherNames = new Map<string, number>()

  constructor(model: SchemaModel, options: CompileOptions) {
    this.#model = model
    this.#imports = options.imports ?? []
    this.#vocabulary = options.vocabulary
    this.#simpleTypes = options.simpleTypes ?? createSimpleTypeCache()
    this.#namespaceId(model.targetNamespace)
  }

  schema(): CompiledSchema {
    const globals = new Map<string, number>()
    for (const model of [this.#model, ...this.#imports]) {
      for (const [name, declaration] of model.elements) {
        globals.set(name, this.#element(declaration))
      }
    }
    for (let work = this.#waiting.pop(); work !== undefined; work = this.#waiting.pop()) work()
    return {
      targetNamespace: this.#model.targetNamespace,
      namespaces: this.#namespaces,
      types: this.#types,
      elements: this.#elements,
      globals,
      globalNames: Int32Array.from(
        [...globals.values()].flatMap((id) => [...this.#edgeOf(id), -1]),
      ),
      wildcards: this.#wildcards,
      edges: Int32Array.from(this.#edges),
      stateEdges: Int32Array.from([...this.#stateEdges, this.#edges.length / edgeStride]),
      stateAccepts: Uint8Array.from(this.#accepts),
      vocabularySize: this.#vocabulary.size,
      otherNames: this.#otherNames,
    }
  }

  #element(declaration: ElementDeclaration): number {
    const known = this.#elementIds.get(declaration)
    if (known !== undefined) return known
    const id = this.#elements.length
    this.#elementIds.set(declaration, id)
    const namespace = namespaceIn(declaration.name)
    this.#namespaceId(namespace)
    const element = { name: localOf(declaration.name), namespace, fixed: declaration.fixed }
    // It takes its place first, because a type may contain itself.
    this.#elements.push({ ...element, type: 0, unique: [] })
    const type = this.#type(declaration.type, declaration.place)
    const unique = declaration.unique.map((constraint) => compileUnique(constraint))
    this.#elements[id] = { ...element, type, unique }
    return id
  }

  #type(type: QName | TypeDefinition, place: Place): number {
    const definition = typeof type === 'string' ? (this.#findType(type, place) ?? type) : type
    const known = this.#typeIds.get(definition)
    if (known !== undefined) return known
    const id = this.#types.length
    this.#typeIds.set(definition, id)
    if (typeof definition === 'string' || definition.kind === 'simple') {
      this.#types.push(simpleType(this.#simpleType(definition, place)))
      return id
    }
    this.#types.push(
      simpleType(SimpleValidator.builtIn('string', this.#simpleTypes) as SimpleValidator),
    )
    this.#waiting.push(() => {
      this.#types[id] = this.#complexType(definition)
    })
    return id
  }

  /** Undefined for a built-in type. */
  #findType(name: QName, place: Place): TypeDefinition | undefined {
    if (namespaceIn(name) === xsdNamespace) return undefined
    for (const model of [this.#model, ...this.#imports]) {
      const found = model.types.get(name)
      if (found !== undefined) return found
    }
    throw new SchemaError(place.file, place.line, `there is no type ${name}`)
  }

  #simpleType(type: QName | SimpleType, place: Place, depth = 0): SimpleValidator {
    const known = this.#simple.get(type)
    if (known !== undefined) return known
    if (depth > 32) throw new SchemaError(place.file, place.line, 'a type is derived from itself')
    let validator: SimpleValidator
    if (typeof type === 'string') {
      const found = this.#findType(type, place)
      if (found?.kind === 'complex') {
        throw new SchemaError(place.file, place.line, `${type} is no simple type`)
      }
      const builtIn = SimpleValidator.builtIn(localOf(type), this.#simpleTypes)
      if (found !== undefined) validator = this.#simpleType(found, place, depth + 1)
      else if (builtIn !== undefined) validator = builtIn
      else throw new SchemaError(place.file, place.line, `xs:${localOf(type)} is not supported`)
    } else {
      const base = this.#simpleType(type.base, type.place, depth + 1)
      validator = compileSimpleType(type, base, this.#simpleTypes)
    }
    this.#simple.set(type, validator)
    return validator
  }

  #complexType(type: ComplexType): CompiledType {
    const { place } = type
    const bases = this.#basesOf(type)
    const attributes = attributesOf(bases).map((attribute) => this.#attribute(attribute, place))
    const extended = extendedOf(bases)
    const common = {
      attributes,
      anyAttribute: extended.some(({ anyAttribute }) => anyAttribute),
      plain: attributes.length === 0,
      mixed: extended.some(({ mixed }) => mixed),
    }
    if (type.simpleContent !== undefined) {
      const simple = this.#simpleContent(type)
      return { ...common, simple, state: -1, members: [], wildcardMembers: false }
    }
    const particles = extended.flatMap(({ particle }) => particle ?? [])
    const resolved = this.#resolve({ kind: 'sequence', min: 1, max: 1, items: particles }, 0)
    const state = this.#addAutomaton(buildAutomaton(resolved, place))
    const members = membersOf(resolved)
    return {
      ...common,
      simple: undefined,
      state,
      members,
      wildcardMembers: hasWildcard(resolved),
    }
  }

  /** The type and those it is derived from, the outermost base first. */
  #basesOf(type: ComplexType): readonly ComplexType[] {
    const bases = [type]
    for (let at = type; ; ) {
      const name = at.extends ?? at.restricts
      if (name === undefined) return bases
      const base = this.#findType(name, at.place)
      const isOpen = at.simpleContent !== undefined || name === anyType
      if (base?.kind !== 'complex' && isOpen) return bases
      if (base?.kind !== 'complex' || bases.includes(base)) {
        throw new SchemaError(at.place.file, at.place.line, `${name} cannot be extended`)
      }
      bases.unshift(base)
      at = base
    }
  }

  #simpleContent(type: ComplexType): SimpleValidator {
    const name = type.simpleContent as QName
    const base = this.#findType(name, type.place)
    const validator =
      base?.kind === 'complex' && base.simpleContent !== undefined
        ? this.#simpleContent(base)
        : this.#simpleType(name, type.place)
    return validator.restricted(type.facets, this.#simpleTypes)
  }

  #attribute(attribute: AttributeUse, place: Place): CompiledAttribute {
    return {
      name: localOf(attribute.name),
      namespace: namespaceIn(attribute.name),
      validator: this.#simpleType(attribute.type, place),
      required: attribute.required,
      fixed: attribute.fixed,
    }
  }

  #resolve(particle: Particle, depth: number): ResolvedParticle {
    const { min, max } = particle
    switch (particle.kind) {
      case 'sequence':
      case 'choice':
        return {
          kind: particle.kind,
          min,
          max,
          items: particle.items.map((item) => this.#resolve(item, depth)),
        }
      case 'group-ref': {
        const { place } = particle
        const group = this.#model.groups.get(particle.name)
        if (group === undefined || depth > 32) {
          throw new SchemaError(place.file, place.line, `there is no group ${particle.name}`)
        }
        return { kind: 'sequence', min, max, items: [this.#resolve(group, depth + 1)] }
      }
      case 'element-ref': {
        const { place } = particle
        const element = this.#globalElement(particle.name)
        if (element === undefined) {
          throw new SchemaError(place.file, place.line, `there is no element ${particle.name}`)
        }
        return this.#leaf(particle, element)
      }
      case 'element':
        return this.#leaf(particle, particle.element)
      case 'any': {
        const wildcard = this.#wildcards.length
        this.#wildcards.push({
          namespaces: particle.namespaces,
          processContents: particle.processContents,
        })
        const leaf: Leaf = { key: 'any', edge: [anyName, wildcard, -1], particle }
        return { kind: 'leaf', min, max, leaf }
      }
    }
  }

  #globalElement(name: QName): ElementDeclaration | undefined {
    for (const { elements } of [this.#model, ...this.#imports]) {
      const found = elements.get(name)
      if (found !== undefined) return found
    }
    return undefined
  }

  #leaf(particle: Particle, declaration: ElementDeclaration): ResolvedParticle {
    const edge = this.#edgeOf(this.#element(declaration))
    const leaf: Leaf = { key: declaration.name, edge, particle }
    return { kind: 'leaf', min: particle.min, max: particle.max, leaf }
  }

  #edgeOf(element: number): readonly [number, number, number] {
    const { name, namespace } = this.#elements[element] as CompiledElement
    return [this.#nameId(name), this.#namespaceId(namespace), element]
  }

  #addAutomaton({ follow, leaves, accepts }: Automaton): number {
    const first = this.#stateEdges.length
    for (const [state, next] of follow.entries()) {
      this.#stateEdges.push(this.#edges.length / edgeStride)
      this.#accepts.push(accepts[state] ? 1 : 0)
      for (const to of next) this.#edges.push(...(leaves[to] as Leaf).edge, first + to)
    }
    return first
  }

  #nameId(name: string): number {
    const id = this.#vocabulary.idOf(name)
    if (id >= 0) return id
    const known = this.#otherNames.get(name)
    if (known !== undefined) return known
    const own = this.#vocabulary.size + this.#otherNames.size
    this.#otherNames.set(name, own)
    return own
  }

  #namespaceId(namespace: string): number {
    const known = this.#namespaces.indexOf(namespace)
    if (known >= 0) return known
    return this.#namespaces.push(namespace) - 1
  }
}

const anyType = qName(xsdNamespace, 'anyType')

/** The attributes of a type; the last base that declares one wins. */
const attributesOf = (bases: readonly ComplexType[]): readonly AttributeUse[] => {
  const uses = new Map<QName, AttributeUse>()
  for (const { attributes, prohibited } of bases) {
    for (const name of prohibited) uses.delete(name)
    for (const attribute of attributes) uses.set(attribute.name, attribute)
  }
  return [...uses.values()]
}

/**
 * The bases whose content is part of the type's own: a restriction repeats what it keeps, so nothing before it counts.
 */
const extendedOf = (bases: readonly ComplexType[]): readonly ComplexType[] =>
  bases.slice(
    Math.max(
      0,
      bases.findLastIndex(({ restricts }) => restricts !== undefined),
    ),
  )

const simpleType = (simple: SimpleValidator): CompiledType => ({
  simple,
  state: -1,
  mixed: false,
  attributes: [],
  anyAttribute: false,
  plain: true,
  members: [],
  wildcardMembers: false,
})

const compileUnique = ({ name, selector, fields }: UniqueConstraint): CompiledUnique => {
  const steps = (path: readonly QName[]) =>
    path.map((step) => ({ namespace: namespaceIn(step), name: localOf(step) }))
  return { name, selector: steps(selector), fields: fields.map(steps) }
}

const hasWildcard = (particle: ResolvedParticle): boolean =>
  particle.kind === 'leaf'
    ? particle.leaf.edge[0] === anyName
    : particle.items.some((item) => hasWildcard(item))
