import {
  ATTRIBUTE_STRIDE,
  KIND_MASK,
  NODE_NEXT,
  NODE_STRIDE,
  TEXT,
  WHITESPACE_ONLY,
  type XmlDocument,
  type XmlShape,
} from '#codecs/xml'
import type { ByteCheck } from './byte-check.ts'
import type { SimpleValidator } from './simple.ts'

/** Values of documents that a plan is made for. */
const NOTES_MAX = 1024

type JudgedAttribute = {
  /** Its first int. */
  readonly record: number
  readonly validator: SimpleValidator
}

/** What is left to judge of a document of a shape whose markup was found right: its values. */
export type QuickPlan = {
  /** Of each text the first int of its node. */
  readonly places: Int32Array
  /** The element of the schema that it belongs to, and how its bytes are judged. */
  readonly elements: Int32Array
  readonly checks: readonly ByteCheck[]
  readonly attributes: readonly JudgedAttribute[]
}

/** What was judged of a document beside its markup. */
export class QuickNotes {
  /** False where something was judged that is neither markup nor one value. */
  isWhole = true
  attributes: JudgedAttribute[] = []
  private readonly pairs = new Int32Array(2 * NOTES_MAX)
  private count = 0

  clear(): void {
    this.isWhole = true
    this.attributes = []
    this.count = 0
  }

  /** An element of simple content, and which one of the schema it is. */
  note(node: number, element: number): void {
    if (this.count === this.pairs.length) {
      this.isWhole = false
      return
    }
    this.pairs[this.count] = node
    this.pairs[this.count + 1] = element
    this.count += 2
  }

  /** The plan for further documents of the shape. White space alone is markup, and so is no text. */
  plan(
    { nodes }: XmlDocument,
    { variableAttributes }: XmlShape,
    checks: readonly (ByteCheck | undefined)[],
  ): QuickPlan {
    const places: number[] = []
    const elements: number[] = []
    for (let i = 0; i < this.count; i += 2) {
      const node = this.pairs[i] as number
      const place = (node + 1) * NODE_STRIDE
      const isEmpty = nodes[node * NODE_STRIDE + NODE_NEXT] === node + 1
      const kind = (nodes[place] as number) & (KIND_MASK | WHITESPACE_ONLY)
      if (isEmpty || kind !== TEXT) continue
      places.push(place)
      elements.push(this.pairs[i + 1] as number)
    }
    return {
      places: Int32Array.from(places),
      elements: Int32Array.from(elements),
      checks: elements.map((element) => checks[element] as ByteCheck),
      attributes: this.attributes.filter(({ record }) =>
        variableAttributes.includes(record / ATTRIBUTE_STRIDE),
      ),
    }
  }
}
