import { createXmlScanner, type XmlNative, type XmlScanner } from '#codecs/xml'
import { createSchemaValidator, type SchemaValidator } from './schema/index.ts'
import { messageVocabulary } from './vocabulary.ts'

export type MessageScanner = XmlScanner & {
  /** Validates the document that was scanned last. */
  readonly validate: SchemaValidator
}

/**
 * A scanner for callers that read one message after the other. It uses the runtime's own text functions for speed. Each
 * document is valid only until the next scan.
 *
 * @param learning false to scan and validate each message in full, independent of earlier ones
 * @example createMessageScanner(native).scan(bytes)
 */
export const createMessageScanner = (
  native: XmlNative,
  { learning = true }: { readonly learning?: boolean } = {},
): MessageScanner => ({
  ...createXmlScanner({ vocabulary: messageVocabulary, native, reuse: learning }),
  validate: createSchemaValidator({ learning }),
})
