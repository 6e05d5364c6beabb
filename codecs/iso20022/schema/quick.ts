import { nodeKind, type XmlDocument, type XmlShape } from '#codecs/xml'
import type { ByteCheck } from './byte-check.ts'
import {
  anyName,
  type CompiledElement,
  type CompiledSchema,
  type CompiledType,
  edgeElement,
  edgeName,
  edgeNamespace,
  edgeNext,
  edgeStride,
} from './compiled.ts'
import { QuickAttributes } from './quick-attributes.ts'
import { type JudgedAttribute, QuickNotes, type QuickPlan } from './quick-plan.ts'
import type { SimpleValidator } from './simple.ts'
import { checkUnique } from './unique.ts'
import { admits, type Wildcard } from './wildcard.ts'

/** Open elements; a document with more is left to the thorough pass. */
export const quickDepthMax = 64
const unsure = -1

/**
 * Says only whether a document is surely valid, which nearly all are. It makes no objects, and strings only for the few
 * values that it cannot judge by their bytes. Fields without `#`, state in local variables, one loop: this runs for
 * every message.
 */
export class QuickPass {
  private readonly schema: CompiledSchema
  /** By element: the first state of its content; {@link unsure} if that is text. */
  private readonly states: Int32Array
  /** By element: the validator of its text. */
  private readonly validators: readonly (SimpleValidator | undefined)[]
  private readonly checks: readonly (ByteCheck | undefined)[]
  private readonly attributes: readonly QuickAttributes[]
  /** By element: whether it needs more checks than that of its content, even without attributes. */
  private readonly demands: Uint8Array
  /** By the schema's namespace index: the document's index. */
  private readonly namespaces: Int32Array
  /** By wildcard, and within it by namespace of the schema. */
  private readonly admitted: Uint8Array
  /** The edges of the schema, and behind them one that no element takes. */
  private readonly edges: Int32Array
  /** By state: its first edge if an element's name alone decides it; else the edge that no element takes. */
  private readonly firstEdges: Int32Array
  private readonly openStates = new Int32Array(quickDepthMax - 1)
  private readonly openEnds = new Int32Array(quickDepthMax - 1)
  /** The notes for a plan, if the document has a shape. */
  private notes: QuickNotes | undefined
  /** Remaining checks by shape. Kept here, as either may outlive the other: a sender may name versions without end. */
  private readonly plans = new WeakMap<XmlShape, QuickPlan>()

  constructor(schema: CompiledSchema) {
    const { elements, types } = schema
    const typeOf = ({ type }: CompiledElement) => types[type] as CompiledType
    const ofTypes = types.map(({ attributes }) => new QuickAttributes(attributes))
    this.schema = schema
    this.states = Int32Array.from(elements, (element) =>
      typeOf(element).simple === undefined ? typeOf(element).state : unsure,
    )
    this.validators = elements.map((element) => typeOf(element).simple)
    this.checks = this.validators.map((validator) => validator?.bytes)
    this.attributes = elements.map(({ type }) => ofTypes[type] as QuickAttributes)
    this.demands = Uint8Array.from(elements, ({ fixed, unique }, element) => {
      const { requiredCount } = this.attributes[element] as QuickAttributes
      return fixed !== undefined || unique.length > 0 || requiredCount > 0 ? 1 : 0
    })
    this.edges = edgesAndNone(schema)
    this.firstEdges = firstEdgesOf(schema)
    this.namespaces = new Int32Array(schema.namespaces.length)
    this.admitted = Uint8Array.from(
      schema.wildcards.flatMap((wildcard) =>
        schema.namespaces.map((uri) => (admits(wildcard, uri) ? 1 : 0)),
      ),
    )
  }

  accepts(document: XmlDocument): boolean {
    const { shape, root } = document
    const known = shape && this.plans.get(shape)
    if (known !== undefined) return this.hasValues(document, known, 0, 0)
    for (let i = 0; i < this.namespaces.length; i++) {
      this.namespaces[i] = document.namespaces.indexOf(this.schema.namespaces[i] as string)
    }
    const element = this.global(document, root)
    if (element === unsure) return false
    const notes = shape && new QuickNotes(element, 0, 0)
    this.notes = notes
    if (!this.hasMore(document, root, element) || !this.judges(document, root, element, 0)) {
      return false
    }
    if (shape !== undefined && notes !== undefined) this.keep(shape, notes)
    return true
  }

  private keep(shape: XmlShape, notes: QuickNotes): void {
    if (notes.isWhole) this.plans.set(shape, notes.plan(shape, this.checks))
  }

  /** Whether the values of a document or part are valid, given that its markup is. */
  private hasValues(
    document: XmlDocument,
    plan: QuickPlan,
    firstNode: number,
    firstAttribute: number,
  ): boolean {
    const { texts, checks, elements, attributes } = plan
    for (let i = 0; i < texts.length; i++) {
      const text = firstNode + (texts[i] as number)
      const element = elements[i] as number
      if (
        !isPlainly(document, text, checks[i] as ByteCheck) &&
        !this.hasValue(document, text - 1, text + 1, element)
      ) {
        return false
      }
    }
    for (let i = 0; i < attributes.length; i++) {
      const { attribute, validator } = attributes[i] as JudgedAttribute
      if (!this.hasAttributeValue(document, firstAttribute + attribute, validator)) return false
    }
    return true
  }

  /** Checks a part whose first element is valid in its place. */
  private judgesPart(document: XmlDocument, part: number, element: number, depth: number): boolean {
    const { shapes, places } = document.parts
    const shape = shapes[part] as XmlShape
    const node = places[part * 2] as number
    const attribute = places[part * 2 + 1] as number
    const known = this.plans.get(shape)
    if (known?.root === element) return this.hasValues(document, known, node, attribute)
    const notes = new QuickNotes(element, node, attribute)
    this.notes = notes
    const isRight = this.judges(document, node, element, depth)
    this.notes = undefined
    if (isRight) this.keep(shape, notes)
    return isRight
  }

  /** Whether all in an element is valid. @param base how many elements are open around it */
  private judges(document: XmlDocument, root: number, element: number, base: number): boolean {
    const { states, demands, namespaces, openStates, openEnds } = this
    const { edges, firstEdges, checks, notes } = this
    const { stateAccepts } = this.schema
    // A document or part that has a shape has no parts.
    const places = notes === undefined ? document.parts.places : []
    let part = 0
    let depth = base
    let node = root
    let state = states[element] as number
    let end = document.next(node)
    if (state === unsure) return false
    node++
    for (;;) {
      while (node === end) {
        if (stateAccepts[state] !== 1) return false
        if (depth === base) return true
        depth--
        state = openStates[depth] as number
        end = openEnds[depth] as number
      }
      if (!document.isElement(node)) {
        if (!document.isWhiteSpace(node) && document.kind(node) !== nodeKind.comment) return false
        node++
        continue
      }
      // Nearly always the first possible element comes next.
      let edge = firstEdges[state] as number
      if (
        edges[edge] !== document.nameId(node) ||
        namespaces[edges[edge + edgeNamespace] as number] !== document.namespaceId(node)
      ) {
        edge = this.edge(document, node, state)
        if (edge === unsure) return false
      }
      state = edges[edge + edgeNext] as number
      const next = document.next(node)
      const element = this.element(document, node, edge)
      if (element === unsure) return false
      // Nearly all elements have no attribute and need none; this spares them a call.
      const hasMore = document.attributeCount(node) !== 0 || demands[element] === 1
      if (hasMore && !this.hasMore(document, node, element)) return false
      const content = states[element] as number
      if (content === unsure) {
        if (notes !== undefined) notes.texts.push({ node: node + 1, element })
        const isSure =
          next === node + 2 && isPlainly(document, node + 1, checks[element] as ByteCheck)
        if (!isSure && !this.hasValue(document, node, next, element)) return false
        node = next
        continue
      }
      if (depth === quickDepthMax - 1) return false
      if (node === places[part * 2]) {
        if (!this.judgesPart(document, part++, element, depth)) return false
        node = next
        continue
      }
      openStates[depth] = state
      openEnds[depth++] = end
      state = content
      end = next
      node++
    }
  }

  private edge(document: XmlDocument, node: number, state: number): number {
    const { stateEdges } = this.schema
    const { edges } = this
    const name = document.nameId(node)
    // Only this document has the name; schemas number such names differently.
    if (name >= this.schema.vocabularySize) return unsure
    const namespace = document.namespaceId(node)
    const end = (stateEdges[state + 1] as number) * edgeStride
    for (let edge = (stateEdges[state] as number) * edgeStride; edge < end; edge += edgeStride) {
      const wanted = edges[edge + edgeName] as number
      if (wanted === name) {
        const expected = this.namespaces[edges[edge + edgeNamespace] as number]
        if (expected === namespace) return edge
      } else if (
        wanted === anyName &&
        this.admits(edges[edge + edgeNamespace] as number, namespace)
      ) {
        return edge
      }
    }
    return unsure
  }

  /** Whether a wildcard admits a namespace that the schema names itself. */
  private admits(wildcard: number, namespace: number): boolean {
    const count = this.namespaces.length
    for (let i = 0; i < count; i++) {
      if (this.namespaces[i] === namespace) return this.admitted[wildcard * count + i] === 1
    }
    return false
  }

  private element(document: XmlDocument, node: number, edge: number): number {
    const { edges } = this
    return edges[edge] === anyName
      ? this.strict(document, node, edges[edge + edgeNamespace] as number)
      : (edges[edge + edgeElement] as number)
  }

  /** The global element that a strict wildcard reads; leaves other wildcards to the thorough pass. */
  private strict(document: XmlDocument, node: number, wildcard: number): number {
    const { processContents } = this.schema.wildcards[wildcard] as Wildcard
    return processContents === 'strict' ? this.global(document, node) : unsure
  }

  /** The global element of a node's name. */
  private global(document: XmlDocument, node: number): number {
    const { globalNames } = this.schema
    const name = document.nameId(node)
    const namespace = document.namespaceId(node)
    for (let i = 0; i < globalNames.length; i += edgeStride) {
      if (
        globalNames[i + edgeName] === name &&
        this.namespaces[globalNames[i + edgeNamespace] as number] === namespace
      ) {
        return globalNames[i + edgeElement] as number
      }
    }
    return unsure
  }

  /** Whether an element's attributes are valid, and whether `xs:unique` holds beneath it. */
  private hasMore(document: XmlDocument, node: number, element: number): boolean {
    const { fixed, unique } = this.schema.elements[element] as CompiledElement
    if (fixed !== undefined || !this.hasAttributes(document, node, element)) return false
    let isUnique = true
    if (unique.length === 0) return isUnique
    if (this.notes !== undefined) this.notes.isWhole = false
    const report = () => {
      isUnique = false
    }
    checkUnique({ document, report }, node, unique)
    return isUnique
  }

  /** Checks a value that cannot be judged by its bytes alone. */
  private hasValue(document: XmlDocument, node: number, next: number, element: number): boolean {
    const validator = this.validators[element] as SimpleValidator
    if (next === node + 1) return validator.faults('').length === 0
    const text = node + 1
    if (next !== node + 2 || document.kind(text) !== nodeKind.text) return false
    return (
      (!document.isPlainText(text) &&
        validator.bytes.acceptsEncoded(document.start(text), document.end(text))) ||
      validator.faults(document.textOf(node)).length === 0
    )
  }

  private hasAttributes(document: XmlDocument, node: number, element: number): boolean {
    const { bytes } = document
    const count = document.attributeCount(node)
    const type = this.attributes[element] as QuickAttributes
    if (count === 0) return type.requiredCount === 0
    let missing = type.requiredCount
    const first = document.firstAttribute(node)
    const start = document.attributeStart(first)
    const valueEnd = document.attributeValueEnd(first)
    const isSimple =
      count === 1 && document.attributeNamespaceId(first) === 0 && document.isPlainAttribute(first)
    if (isSimple && this.notes === undefined && type.wasRight(bytes, start, valueEnd)) return true
    for (let attribute = first; attribute < first + count; attribute++) {
      if (document.isNamespaceDeclaration(attribute)) continue
      const isOurs = document.attributeNamespaceId(attribute) === 0
      const declared = isOurs ? type.indexOf(document, attribute) : -1
      if (declared === -1) return false
      missing -= type.required[declared] as number
      const validator = type.validators[declared] as SimpleValidator
      if (!this.hasAttributeValue(document, attribute, validator)) return false
      this.notes?.attributes.push({ attribute, validator })
    }
    if (missing !== 0) return false
    if (isSimple) type.remember(bytes, start, valueEnd)
    return true
  }

  private hasAttributeValue(
    document: XmlDocument,
    attribute: number,
    validator: SimpleValidator,
  ): boolean {
    const start = document.attributeValueStart(attribute)
    const end = document.attributeValueEnd(attribute)
    const isSure =
      document.isPlainAttribute(attribute) && validator.bytes.accepts(document.bytes, start, end)
    return isSure || validator.faults(document.attributeValue(attribute)).length === 0
  }
}

/** Whether a node is a text that is valid by its bytes alone. */
const isPlainly = (document: XmlDocument, text: number, check: ByteCheck): boolean =>
  document.isPlainText(text) &&
  check.accepts(document.bytes, document.start(text), document.end(text))

/** No element has it. */
const noName = -3

/** The edges of a schema, and behind them one that no element takes. */
const edgesAndNone = ({ edges }: CompiledSchema): Int32Array => {
  const all = new Int32Array(edges.length + edgeStride).fill(noName)
  all.set(edges)
  return all
}

/** By state: its first edge if an element's name alone decides it; else the edge that no element takes. */
const firstEdgesOf = ({ edges, stateEdges, vocabularySize }: CompiledSchema): Int32Array =>
  stateEdges.map((first, state) => {
    const edge = first * edgeStride
    const name = edges[edge + edgeName] ?? noName
    const isEmpty = first === (stateEdges[state + 1] ?? first)
    // Each document numbers names beyond the vocabulary in its own way.
    return isEmpty || name < 0 || name >= vocabularySize ? edges.length : edge
  })
