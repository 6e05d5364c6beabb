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
  /** An element's one attribute that was found right last, name and value, as the currency of most amounts. */
  private right: Uint8Array = new Uint8Array(0)

  constructor(all: readonly CompiledAttribute[]) {
    // Where one of the others is written, or lacks, its type's documents are never sure.
    const attributes = all.filter(({ namespace, fixed }) => namespace === '' && fixed === undefined)
    this.names = attributes.map(({ name }) => name)
    this.validators = attributes.map(({ validator }) => validator)
    this.required = Uint8Array.from(attributes, ({ required }) => (required ? 1 : 0))
    this.requiredCount = all.filter(({ required }) => required).length
  }

  /** Which one of them an attribute in no namespace is; -1 where it is none. */
  indexOf(document: XmlDocument, attribute: number): number {
    const { names } = this
    for (let index = 0; index < names.length; index++) {
      if (document.isNamed(attribute, names[index] as string)) return index
    }
    return -1
  }

  /** Whether the bytes are an attribute that was found right where it stood alone. */
  wasRight(bytes: Uint8Array, start: number, end: number): boolean {
    return isSame(this.right, bytes, start, end)
  }

  remember(bytes: Uint8Array, start: number, end: number): void {
    this.right = bytes.slice(start, end)
  }
}
