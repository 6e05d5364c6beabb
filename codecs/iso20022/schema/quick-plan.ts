import type { XmlShape } from '#codecs/xml'
import type { ByteCheck } from './byte-check.ts'
import type { SimpleValidator } from './simple.ts'

type JudgedText = {
  readonly node: number
  /** Of the schema. */
  readonly element: number
}

export type JudgedAttribute = {
  readonly attribute: number
  readonly validator: SimpleValidator
}

/** What is left to judge of a document or part of a shape of which one was found right: its own values. */
export type QuickPlan = {
  /** That of the schema which the first element of the shape is. */
  readonly root: number
  readonly texts: Int32Array
  /** By text: the element of the schema that it belongs to, and how its bytes are judged. */
  readonly elements: Int32Array
  readonly checks: readonly ByteCheck[]
  readonly attributes: readonly JudgedAttribute[]
}

/** What was judged of a document, or a part of it, beside its structure. */
export class QuickNotes {
  private readonly root: number
  private readonly firstNode: number
  private readonly firstAttribute: number
  /** False where something was judged that is neither structure nor one value. */
  isWhole = true
  readonly texts: JudgedText[] = []
  readonly attributes: JudgedAttribute[] = []

  /** @param root the element of the schema that the first element is */
  constructor(root: number, firstNode: number, firstAttribute: number) {
    this.root = root
    this.firstNode = firstNode
    this.firstAttribute = firstAttribute
  }

  /** The plan for others of the shape: what is the same in all of them was judged. */
  plan(
    { variableTexts, variableAttributes }: XmlShape,
    checks: readonly (ByteCheck | undefined)[],
  ): QuickPlan {
    const { root, firstNode, firstAttribute } = this
    const texts = this.texts.filter(({ node }) => variableTexts.includes(node - firstNode))
    const attributes = this.attributes.filter(({ attribute }) =>
      variableAttributes.includes(attribute - firstAttribute),
    )
    return {
      root,
      texts: Int32Array.from(texts, ({ node }) => node - firstNode),
      elements: Int32Array.from(texts, ({ element }) => element),
      checks: texts.map(({ element }) => checks[element] as ByteCheck),
      attributes: attributes.map(({ attribute, validator }) => ({
        attribute: attribute - firstAttribute,
        validator,
      })),
    }
  }
}
