import { createXmlScanner, type XmlNative, type XmlScanner } from '#codecs/xml'
import { createSchemaValidator, type SchemaValidator } from './schema/index.ts'
import { messageVocabulary } from './vocabulary.ts'

export type MessageScanner = XmlScanner & {
  /** Judges the document that was scanned last. */
  readonly validate: SchemaValidator
}

/**
 * The scanner of whoever reads one message after the other, as fast as the runtime's own text functions make it:
 * each document is valid only until the next scan.
 *
 * @param learning false to scan and judge each message in full, whatever messages came before it
 * @example createMessageScanner(native).scan(bytes)
 */
export const createMessageScanner = (
  native: XmlNative,
  { learning = true }: { readonly learning?: boolean } = {},
): MessageScanner => ({
  ...createXmlScanner({ vocabulary: messageVocabulary, native, reuse: learning }),
  validate: createSchemaValidator({ learning }),
})
