export {
  ABSENT,
  ATTRIBUTE_COUNT_MASK,
  ATTRIBUTE_COUNT_SHIFT,
  ATTRIBUTE_LOCAL_START,
  ATTRIBUTE_NAME_END,
  ATTRIBUTE_NAME_START,
  ATTRIBUTE_NAMESPACE,
  ATTRIBUTE_STRIDE,
  ATTRIBUTE_VALUE_END,
  ATTRIBUTE_VALUE_START,
  attributeCountOf,
  CDATA,
  COMMENT,
  ELEMENT,
  IS_NAMESPACE_DECLARATION,
  KIND_MASK,
  NAMESPACE_SHIFT,
  NEEDS_DECODING,
  NODE_CONTENT,
  NODE_END,
  NODE_NAME,
  NODE_NEXT,
  NODE_START,
  NODE_STRIDE,
  TEXT,
  VALUE_NEEDS_DECODING,
  WHITESPACE_ONLY,
  XmlDocument,
  type XmlParts,
  type XmlShape,
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
