export {
  ABSENT,
  CDATA,
  COMMENT,
  ELEMENT,
  NEEDS_DECODING,
  NODE_STRIDE,
  TEXT,
  WHITESPACE_ONLY,
  XmlDocument,
} from './document.ts'
export { type XmlErrorCode, xmlErrorCodes } from './errors.ts'
export { explainXmlError, lineColumnAt, type XmlExplanation } from './explain.ts'
export { type XmlLimits, xmlLimits } from './limits.ts'
export { createXmlScanner, type XmlScanner, type XmlScannerOptions } from './scanner.ts'
export { createXmlVocabulary, type XmlVocabulary } from './vocabulary.ts'
