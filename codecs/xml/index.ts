export {
  absent,
  attributeCountMask,
  attributeCountOf,
  attributeCountShift,
  attributeLocalStart,
  attributeNameEnd,
  attributeNameStart,
  attributeNamespace,
  attributeStride,
  attributeValueEnd,
  attributeValueStart,
  cdata,
  comment,
  elementKind,
  isNamespaceDeclaration,
  kindMask,
  namespaceShift,
  needsDecoding,
  nodeContent,
  nodeEnd,
  nodeName,
  nodeNext,
  nodeStart,
  nodeStride,
  textKind,
  valueNeedsDecoding,
  whitespaceOnly,
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
