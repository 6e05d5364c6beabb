import {
  absent,
  attributeCountOf,
  attributeFlags,
  attributeStride,
  attributeValueEnd,
  attributeValueStart,
  isDeclaration,
  isElement,
  kindMask,
  nodeContent,
  nodeEnd,
  nodeKind,
  nodeStride,
  valueNeedsDecoding,
  whiteSpaceOnly,
} from './layout.ts'
import { Literal, noValue, partEnd, textEnds } from './literal.ts'
import { type Sample, Shape, type Value } from './shape.ts'
import type { Source } from './source.ts'
import { isAscii } from './stretch.ts'
import { Structures } from './structures.ts'

const space = 0x20

/** Larger documents are scanned each time: their shapes seldom recur, and take memory. */
export const shapeBytesMax = 32_768
/** Varying values of a document of a known shape. */
export const shapeValuesMax = 512
/** Bytes of the documents that shapes were learned from. Past this, all shapes are forgotten and learned anew. */
export const shapesBytesMax = 1 << 20

/** Learning a new structure costs this many documents of known shape: where shapes do not recur, few are learned. */
export const learningCosts = 16
/** How many new structures we learn in a row, at most, while no shape recurs. */
export const learningsMax = 64
/** A structure that came again is worth more: it costs this many. */
export const relearningCosts = 8
/** How many of those we learn in a row, at most, while no shape recurs. */
export const relearningsInRowMax = 256
/** One document in this many earns credit, whatever its shape. */
const creditEvery = 64
const relearningCredit = relearningsInRowMax * relearningCosts
const creditMax = learningsMax * learningCosts + relearningCredit
/** After this many documents without a known shape, we compare only some. */
export const missesMax = 64
/** One document of known shape makes up for this many without: comparing all costs more where fewer are known. */
export const missesPerHit = 8
/** Then we compare one document in this many, as shapes may have begun to recur. */
export const probeEvery = 16

/**
 * Documents of one shape are equal byte for byte, except for the texts of elements and the attribute values that were
 * seen to vary. Nearly all messages of one kind and sender have one of a few shapes. Such a document is well-formed if
 * its fixed bytes equal those of a well-formed one and its values are plain; its tape is that of its shape, moved. A
 * document that differs in any other way goes to the full scan, which alone can judge it.
 *
 * Shapes are the paths through a tree of literals, so that knowing many costs hardly more than knowing one.
 */
export class Shapes {
  private readonly source: Source
  /** What stands behind a last literal: {@link noValue} or {@link partEnd}. */
  private readonly behind: number
  private readonly earned: number
  private tree = new Literal(new Uint8Array(0), noValue)
  private readonly shapes = new Map<Literal, Shape>()
  private readonly structures = new Structures()
  private bytes = 0
  private credit = creditMax
  private misses = 0
  private documents = 0
  /** Where each stretch between two values began in the last walk, and the flags of the text behind it. */
  readonly starts = new Int32Array(shapeValuesMax + 1)
  readonly textFlags = new Int32Array(shapeValuesMax)
  /** Where the last walk ended. */
  end = 0

  /** @param earned the credit of one whose shape is known: less where comparing it spares less than learning costs */
  constructor(source: Source, behind: number, earned = 1) {
    this.earned = earned
    this.source = source
    this.behind = behind
  }

  /** The shape of the loaded document, or of what begins at `from` in it; undefined where none is known. */
  at(from: number): Shape | undefined {
    this.documents++
    // Traffic that never recurs has used up all credit; some comes back, in case that other traffic has begun.
    if (this.documents % creditEvery === 0 && this.credit < creditMax) this.credit++
    if (this.misses === missesMax && this.documents % probeEvery !== 0) return undefined
    const last = this.walk(from)
    const shape = last && this.shapes.get(last)
    if (shape === undefined) {
      this.misses = Math.min(missesMax, this.misses + 1)
      return undefined
    }
    this.misses = Math.max(0, this.misses - missesPerHit)
    this.credit = Math.min(creditMax, this.credit + this.earned)
    return shape
  }

  /** Walks along literals and values, and returns the literal that ends the document or the part. */
  private walk(from: number): Literal | undefined {
    const { source, starts, textFlags } = this
    const { buffer: b, view, length } = source
    const { textBytesMax } = source.limits
    let at = from
    let count = 0
    let literal: Literal | undefined = this.tree
    for (;;) {
      literal = literal.branch(b, view, at, length)
      if (literal === undefined) return undefined
      starts[count] = at
      const { terminator } = literal
      const start = at + literal.stretch.length
      if (terminator <= partEnd) {
        this.end = start
        return literal
      }
      at =
        terminator === textEnds
          ? source.valueText(start)
          : source.valueOfAttribute(start, terminator)
      if (at === absent || at - start > textBytesMax) return undefined
      textFlags[count++] = source.textFlags
    }
  }

  /** False if too much has been learned in vain, of whatever structure. */
  mayLearn(): boolean {
    return this.credit >= relearningCosts
  }

  /**
   * Whether a document or part should be learned; the caller then does. If so, it is paid for.
   *
   * @param structure its {@link structureOf}
   */
  wants(structure: number, byteCount: number): boolean {
    if (byteCount > shapeBytesMax) return false
    const recurs = this.structures.recurs(structure)
    const cost = recurs ? relearningCosts : learningCosts
    const kept = recurs ? 0 : relearningCredit
    if (this.credit - cost < kept) return false
    this.credit -= cost
    return true
  }

  /**
   * Remembers the shape of a document that was scanned.
   *
   * @param sample the loaded document, or what begins at `from` in it
   */
  learn(sample: Sample, from: number): void {
    const { bytes } = sample
    const { source } = this
    if (this.bytes + bytes.length > shapesBytesMax) this.forget()
    const candidates = valuesOf(sample)
    const values: Value[] = []
    let parent = this.tree
    let at = 0
    for (;;) {
      const known = parent.branch(source.buffer, source.view, from + at, source.length)
      if (known === undefined) break
      const start = at + known.stretch.length
      const value = candidates.find((candidate) => candidate.start === start)
      // Nothing is new at the end, or before a value that is not plain.
      if (value === undefined) return
      values.push(value)
      at = value.end
      parent = known
    }
    const relative = this.shapeBehind(parent.nearest(bytes, at))
    const rest = varying(bytes, candidates, at, relative, values.length)
    if (values.length + rest.length > shapeValuesMax) return
    const literals = literalsOf(bytes, at, rest, this.behind)
    const [first] = literals
    const last = literals.at(-1)
    const givenUp = first && parent.add(first)
    if (last === undefined || givenUp === undefined) return
    for (const literal of givenUp) this.drop(literal)
    this.shapes.set(last, new Shape(sample, candidates, [...values, ...rest]))
    this.bytes += bytes.length
  }

  /** The shape of some document that has the literal. */
  private shapeBehind(literal: Literal | undefined): Shape | undefined {
    let last = literal
    while (last?.branches[0] !== undefined) last = last.branches[0]
    return last && this.shapes.get(last)
  }

  private drop(literal: Literal): void {
    this.bytes -= this.shapes.get(literal)?.bytes.length ?? 0
    this.shapes.delete(literal)
    for (const branch of literal.branches) this.drop(branch)
  }

  private forget(): void {
    this.tree = new Literal(new Uint8Array(0), noValue)
    this.shapes.clear()
    this.structures.forgetLearnings()
    this.bytes = 0
  }
}

/**
 * The values from `from` on that vary. Compares the document with one of a shape that has the same values before
 * `from`, as far as their markup is the same: a value varies if the two differ in it, or if it varied for the other.
 * All other values count as fixed until they are seen to vary, except those beyond ASCII.
 */
const varying = (
  bytes: Uint8Array,
  candidates: readonly Value[],
  from: number,
  relative: Shape | undefined,
  valuesBefore: number,
): readonly Value[] => {
  let at = from
  let otherAt = relative?.values[valuesBefore - 1]?.end ?? 0
  const others = relative?.candidates.filter(({ start }) => start > otherAt) ?? []
  const otherBytes = relative?.bytes ?? bytes
  let isAlike = true
  return candidates
    .filter(({ start }) => start > from)
    .filter((value, i) => {
      const { start, end } = value
      const other = others[i] ?? value
      isAlike &&= isSame(bytes.subarray(at, start), otherBytes.subarray(otherAt, other.start))
      const varies =
        relative?.values.includes(other) ||
        !isSame(bytes.subarray(start, end), otherBytes.subarray(other.start, other.end))
      at = end
      otherAt = other.end
      return (isAlike && varies) || !isAscii(bytes, start, end)
    })
}

const isSame = (one: Uint8Array, other: Uint8Array): boolean =>
  one.length === other.length && one.every((byte, i) => byte === other[i])

/** The literals around values, each the only branch of the one before; none if some are not ASCII. */
const literalsOf = (
  bytes: Uint8Array,
  from: number,
  values: readonly Value[],
  behind: number,
): readonly Literal[] => {
  const literals: Literal[] = []
  let at = from
  for (const { start, end } of values) {
    literals.push(new Literal(bytes.slice(at, start), bytes[end] as number))
    at = end
  }
  literals.push(new Literal(bytes.slice(at), behind))
  if (literals.some(({ stretch }) => !isAscii(stretch.bytes, 0, stretch.length))) return []
  literals.reduce((before, literal) => {
    before.add(literal)
    return literal
  })
  return literals
}

/** All that may be values, in document order: texts that do not begin with white space, and plain attribute values. */
const valuesOf = ({ bytes, scanned }: Sample): readonly Value[] => {
  const { nodes, attributes, firstNode, endNode } = scanned
  const values: Value[] = []
  let attributeCount = 0
  for (let index = firstNode; index < endNode; index++) {
    const at = index * nodeStride
    const flags = nodes[at] as number
    if (isElement(flags)) attributeCount += attributeCountOf(flags)
    if ((flags & (kindMask | whiteSpaceOnly)) !== nodeKind.text) continue
    const start = nodes[at + nodeContent] as number
    if ((bytes[start] as number) <= space) continue
    values.push({ isText: true, index, start, end: nodes[at + nodeEnd] as number })
  }
  for (let index = 0; index < attributeCount; index++) {
    const at = index * attributeStride
    const flags = attributes[at + attributeFlags] as number
    const start = attributes[at + attributeValueStart] as number
    const end = attributes[at + attributeValueEnd] as number
    const isPlain = (flags & (valueNeedsDecoding | isDeclaration)) === 0
    if (isPlain && end > start) values.push({ isText: false, index, start, end })
  }
  return values.sort((one, other) => one.start - other.start)
}
