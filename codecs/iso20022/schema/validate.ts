import { absent, nodeKind, type XmlDocument } from '#codecs/xml'
import { checkAttributes } from './attributes.ts'
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
import { qName } from './model.ts'
import { QuickPass } from './quick.ts'
import { checkUnique } from './unique.ts'
import {
  type Finding,
  locate,
  type Report,
  shapeOf,
  shownName,
  type Verdict,
  type ViolationRule,
  violationsMax,
} from './violation.ts'
import { admits, described, type Wildcard } from './wildcard.ts'

/** Children named in `expected`. */
const expectedShownMax = 8
const skip = -1
const stuck = -1

/**
 * Validates a scanned document in one pass, and reports all violations up to {@link violationsMax}.
 *
 * The document must come from a scanner with the vocabulary that the schema was compiled for. An unexpected element is
 * matched to a later place in the content model, or else skipped, so that one fault does not hide the others.
 * `xsi:type` and `xsi:nil` are refused: no catalogue uses them. The uniqueness of `xs:ID` is not checked: only
 * signatures have one, and their profile admits only one.
 */
export const validateDocument = (schema: CompiledSchema, document: XmlDocument): Verdict => {
  const run = new Validation(schema, document)
  try {
    run.root()
  } catch (thrown) {
    if (thrown !== enough) throw thrown
  }
  const { findings } = run
  if (findings.length === 0) return valid
  return {
    valid: false,
    violations: locate(document, findings.slice(0, violationsMax)),
    truncated: findings.length > violationsMax,
  }
}

/** Thrown when we have found more than we report, so that nobody reads on. */
const enough = Symbol('enough')

const valid: Verdict = { valid: true, violations: [], truncated: false }

export type SchemaValidator = (schema: CompiledSchema, document: XmlDocument) => Verdict

/**
 * A fast validator for messages that are nearly all valid and mostly like an earlier one. Its verdicts equal those of
 * {@link validateDocument}, which it asks whenever its quick pass is not sure.
 *
 * @param learning false to use {@link validateDocument} alone for every document
 */
export const createSchemaValidator = ({ learning = true } = {}): SchemaValidator => {
  if (!learning) return validateDocument
  const passes = new WeakMap<CompiledSchema, QuickPass>()
  return (schema, document) => {
    // Made with the first document, because many compiled schemas are never used.
    const pass = passes.get(schema) ?? new QuickPass(schema)
    passes.set(schema, pass)
    return pass.accepts(document) ? valid : validateDocument(schema, document)
  }
}

/** One pass. */
class Validation {
  readonly findings: Finding[] = []
  readonly schema: CompiledSchema
  readonly document: XmlDocument
  /** By the schema's namespace index: the document's. */
  readonly #namespaces: Int32Array
  readonly #edges: Int32Array
  readonly #stateEdges: Int32Array

  constructor(schema: CompiledSchema, document: XmlDocument) {
    this.schema = schema
    this.document = document
    this.#edges = schema.edges
    this.#stateEdges = schema.stateEdges
    this.#namespaces = Int32Array.from(schema.namespaces, (uri) => document.namespaces.indexOf(uri))
  }

  root(): void {
    const { document, schema } = this
    const { root } = document
    const name = document.localName(root)
    const element = schema.globals.get(qName(document.namespaceUri(root), name))
    if (element === undefined) {
      const expected = schema.elements[0]?.name ?? 'nothing'
      this.report(root, 'root', shownName(name), `${expected} of ${schema.targetNamespace}`)
    } else this.#element(root, element)
  }

  report(node: number, rule: ViolationRule, got: string, expected: string, suffix = ''): void {
    if (this.findings.length > violationsMax) throw enough
    this.findings.push({ node, suffix, rule, got, expected })
  }

  #element(node: number, element: number): void {
    const declaration = this.schema.elements[element] as CompiledElement
    const type = this.schema.types[declaration.type] as CompiledType
    const before = this.findings.length
    if (this.document.attributeCount(node) > 0 || !type.plain) checkAttributes(this, node, type)
    if (type.simple !== undefined) this.#simpleContent(node, type, declaration)
    else this.#elementContent(node, type)
    if (declaration.unique.length > 0) this.#unique(node, declaration, before)
  }

  /** Reports repeated values where the element ends: before faults behind it, and before what is missing at its end. */
  #unique(node: number, { unique }: CompiledElement, before: number): void {
    const { document, findings } = this
    const report: Report = (selected, rule, got, expected) => {
      const end = document.next(selected)
      const behind = findings.findIndex(
        (one, i) =>
          i >= before && (one.node >= end || (one.node === node && one.rule === 'missing')),
      )
      const finding = { node: selected, suffix: '', rule, got, expected }
      if (behind === -1) this.report(selected, rule, got, expected)
      else findings.splice(behind, 0, finding)
      findings.length = Math.min(findings.length, violationsMax + 1)
    }
    checkUnique({ document, report }, node, unique)
  }

  #simpleContent(node: number, type: CompiledType, declaration: CompiledElement): void {
    const { document } = this
    const simple = type.simple as NonNullable<CompiledType['simple']>
    const child = document.firstChild(node)
    if (child !== absent) {
      const found = shownName(document.localName(child))
      this.report(node, 'element-content', `element ${found}`, 'text only')
      return
    }
    const text = document.textOf(node)
    for (const { rule, expected } of simple.faults(text)) {
      this.report(node, rule as ViolationRule, shapeOf(text), expected)
    }
    const { fixed } = declaration
    if (fixed !== undefined && simple.key(text) !== simple.key(fixed)) {
      this.report(node, 'fixed', shapeOf(text), fixed)
    }
  }

  #elementContent(node: number, type: CompiledType): void {
    const { document } = this
    const limit = document.next(node)
    let state = type.state
    let hasText = type.mixed
    for (let child = node + 1; child < limit; child = document.next(child)) {
      if (document.isElement(child)) state = this.#child(child, state)
      else if (!hasText && this.#isText(child)) {
        this.report(node, 'text', 'text', 'elements only')
        hasText = true
      }
    }
    if (!this.schema.stateAccepts[state]) {
      this.report(node, 'missing', 'the end', this.#expected(state))
    }
  }

  /** White space does not count, even if written as a reference; a CDATA section does, as in libxml2. */
  #isText(node: number): boolean {
    const { document } = this
    const kind = document.kind(node)
    if (kind !== nodeKind.text) return kind === nodeKind.cdata
    return !document.isWhiteSpace(node) && /[^ \t\n\r]/.test(document.textOf(node))
  }

  /** Reads one child and returns the next state. */
  #child(child: number, state: number): number {
    const edges = this.#edges
    const name = this.#nameId(child, this.document.nameId(child))
    const namespace = this.document.namespaceId(child)
    const end = (this.#stateEdges[state + 1] as number) * edgeStride
    for (let at = (this.#stateEdges[state] as number) * edgeStride; at < end; at += edgeStride) {
      if (edges[at] === name) {
        if (this.#namespaces[edges[at + edgeNamespace] as number] !== namespace) continue
        this.#element(child, edges[at + edgeElement] as number)
        return edges[at + edgeNext] as number
      }
      if (edges[at] === anyName && this.#admits(at, namespace)) {
        this.#wildcard(child, edges[at + edgeNamespace] as number)
        return edges[at + edgeNext] as number
      }
    }
    return this.#unexpected(child, state, name, namespace)
  }

  #nameId(node: number, id: number): number {
    const { vocabularySize, otherNames } = this.schema
    if (id < vocabularySize) return id
    return otherNames.get(this.document.localName(node)) ?? skip
  }

  #admits(edge: number, namespace: number): boolean {
    const wildcard = this.schema.wildcards[this.#edges[edge + edgeNamespace] as number] as Wildcard
    return admits(wildcard, this.document.namespaces[namespace] as string)
  }

  #wildcard(node: number, index: number): void {
    const { processContents } = this.schema.wildcards[index] as Wildcard
    if (processContents === 'skip') return
    const { document, schema } = this
    const name = document.localName(node)
    const element = schema.globals.get(qName(document.namespaceUri(node), name))
    if (element !== undefined) this.#element(node, element)
    else if (processContents === 'strict') {
      this.report(node, 'unexpected', shownName(name), 'an element that a schema declares')
    }
  }

  /** Reports the child. Goes on at the place where the content model has it, or skips it if there is none. */
  #unexpected(child: number, state: number, name: number, namespace: number): number {
    this.report(
      child,
      'unexpected',
      shownName(this.document.localName(child)),
      this.#expected(state) || 'no further element',
    )
    const edge = this.#edgeAhead(state, name, namespace)
    if (edge === stuck) return state
    this.#element(child, this.#edges[edge + edgeElement] as number)
    return this.#edges[edge + edgeNext] as number
  }

  /** The nearest edge for this element that lies ahead of a state. */
  #edgeAhead(from: number, name: number, namespace: number): number {
    const edges = this.#edges
    const seen = new Set([from])
    for (const state of seen) {
      const end = (this.#stateEdges[state + 1] as number) * edgeStride
      for (let at = (this.#stateEdges[state] as number) * edgeStride; at < end; at += edgeStride) {
        if (
          edges[at + edgeName] === name &&
          this.#namespaces[edges[at + edgeNamespace] as number] === namespace
        ) {
          return at
        }
        seen.add(edges[at + edgeNext] as number)
      }
    }
    return stuck
  }

  #expected(state: number): string {
    const { schema } = this
    const names: string[] = []
    const end = (schema.stateEdges[state + 1] as number) * edgeStride
    const start = (schema.stateEdges[state] as number) * edgeStride
    for (let at = start; at < end && names.length < expectedShownMax; at += edgeStride) {
      const element = schema.elements[schema.edges[at + edgeElement] as number]
      const wildcard = schema.wildcards[schema.edges[at + edgeNamespace] as number]
      names.push(element?.name ?? (wildcard === undefined ? '' : described(wildcard)))
    }
    return names.join(' | ')
  }
}
