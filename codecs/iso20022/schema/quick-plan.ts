import type { XmlShape } from '#codecs/xml'
import type { ByteCheck } from './byte-check.ts'
import type { SimpleValidator } from './simple.ts'

type JudgedText = {
  readonly node: number
  /** The element's number in the schema. */
  readonly element: number
}

export type JudgedAttribute = {
  readonly attribute: number
  readonly validator: SimpleValidator
}

/** The checks that remain for a document or part once another of its shape was valid: those of its own values. */
export type QuickPlan = {
  /** The schema's element for the first element of the shape. */
  readonly root: number
  readonly texts: Int32Array
  /** By text: the schema's element that it belongs to, and how its bytes are checked. */
  readonly elements: Int32Array
  readonly checks: readonly ByteCheck[]
  readonly attributes: readonly JudgedAttribute[]
}

/** Notes what was checked in a document or a part of it, besides its structure. */
export class QuickNotes {
  private readonly root: number
  private readonly firstNode: number
  private readonly firstAttribute: number
  /** False if a check concerned neither structure nor a single value. */
  isWhole = true
  readonly texts: JudgedText[] = []
  readonly attributes: JudgedAttribute[] = []

  /** @param root the schema's element for the first element */
  constructor(root: number, firstNode: number, firstAttribute: number) {
    this.root = root
    this.firstNode = firstNode
    this.firstAttribute = firstAttribute
  }

  /** The plan for others of the shape: all that they share has been checked. */
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
