export {
  ABSENT,
  ATTRIBUTE_COUNT_SHIFT,
  CDATA,
  COMMENT,
  ELEMENT,
  KIND_MASK,
  NEEDS_DECODING,
  NODE_CONTENT,
  NODE_END,
  NODE_NAME,
  NODE_NAMESPACE,
  NODE_NEXT,
  NODE_STRIDE,
  TEXT,
  WHITESPACE_ONLY,
  XmlDocument,
} from './document.ts'
export { type XmlErrorCode, xmlErrorCodes } from './errors.ts'
export { explainXmlError, lineColumnAt, type XmlExplanation } from './explain.ts'
export { type XmlLimits, xmlLimits } from './limits.ts'
export {
  createXmlScanner,
  type XmlNative,
  type XmlScanner,
  type XmlScannerOptions,
} from './scanner.ts'
export { createXmlVocabulary, type XmlVocabulary } from './vocabulary.ts'
