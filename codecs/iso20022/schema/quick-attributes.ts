import type { XmlDocument } from '#codecs/xml'
import { isSame } from './byte-set.ts'
import type { CompiledAttribute } from './compiled.ts'
import type { SimpleValidator } from './simple.ts'

/** What the quick pass needs to know of a type's attributes. */
export class QuickAttributes {
  readonly names: readonly string[]
  readonly validators: readonly SimpleValidator[]
  readonly required: Uint8Array
  readonly requiredCount: number
  /** Name and value of the last valid attribute that stood alone, such as the currency of most amounts. */
  private right: Uint8Array = new Uint8Array(0)

  constructor(all: readonly CompiledAttribute[]) {
    // If any other attribute is written, or is missing, the quick pass never says yes.
    const attributes = all.filter(({ namespace, fixed }) => namespace === '' && fixed === undefined)
    this.names = attributes.map(({ name }) => name)
    this.validators = attributes.map(({ validator }) => validator)
    this.required = Uint8Array.from(attributes, ({ required }) => (required ? 1 : 0))
    this.requiredCount = all.filter(({ required }) => required).length
  }

  /** The index of an attribute in no namespace; -1 if it is not one of them. */
  indexOf(document: XmlDocument, attribute: number): number {
    const { names } = this
    for (let index = 0; index < names.length; index++) {
      if (document.isNamed(attribute, names[index] as string)) return index
    }
    return -1
  }

  /** Whether the bytes equal the last valid attribute that stood alone. */
  wasRight(bytes: Uint8Array, start: number, end: number): boolean {
    return isSame(this.right, bytes, start, end)
  }

  remember(bytes: Uint8Array, start: number, end: number): void {
    this.right = bytes.slice(start, end)
  }
}
