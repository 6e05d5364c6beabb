import { ATTRIBUTE_STRIDE, NODE_STRIDE, type XmlShape } from '#codecs/xml'
import type { ByteCheck } from './byte-check.ts'
import type { SimpleValidator } from './simple.ts'

type JudgedText = {
  readonly node: number
  /** Of the schema. */
  readonly element: number
}

type JudgedAttribute = {
  /** Its first int. */
  readonly record: number
  readonly validator: SimpleValidator
}

/** What is left to judge of a document of a shape of which one was found right: its own values. */
export type QuickPlan = {
  /** Of each text the first int of its node. */
  readonly places: Int32Array
  /** The element of the schema that it belongs to, and how its bytes are judged. */
  readonly elements: Int32Array
  readonly checks: readonly ByteCheck[]
  readonly attributes: readonly JudgedAttribute[]
}

/** What was judged of a document beside its structure. */
export class QuickNotes {
  /** False where something was judged that is neither structure nor one value. */
  isWhole = true
  readonly texts: JudgedText[] = []
  readonly attributes: JudgedAttribute[] = []

  /** The plan for further documents of the shape: what is the same in all of them was judged. */
  plan(
    { variableTexts, variableAttributes }: XmlShape,
    checks: readonly (ByteCheck | undefined)[],
  ): QuickPlan {
    const texts = this.texts.filter(({ node }) => variableTexts.includes(node))
    return {
      places: Int32Array.from(texts, ({ node }) => node * NODE_STRIDE),
      elements: Int32Array.from(texts, ({ element }) => element),
      checks: texts.map(({ element }) => checks[element] as ByteCheck),
      attributes: this.attributes.filter(({ record }) =>
        variableAttributes.includes(record / ATTRIBUTE_STRIDE),
      ),
    }
  }
}
