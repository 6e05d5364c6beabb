import { createXmlScanner, type XmlNative, type XmlScanner } from '#codecs/xml'
import { messageVocabulary } from './vocabulary.ts'

/**
 * The scanner of whoever reads one message after the other, as fast as the runtime's own text functions make it:
 * each document is valid only until the next scan.
 */
export const createMessageScanner = (native: XmlNative): XmlScanner =>
  createXmlScanner({ vocabulary: messageVocabulary, native, reuse: true })
