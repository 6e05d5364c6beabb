export {
  type BitmapEncoding,
  bitmaps,
  type Dialect,
  type Encoding,
  encodings,
  type FieldSpec,
  type FieldType,
  fieldTypes,
  type Prefix,
  parseDialect,
  prefixes,
} from './dialect.ts'
export { dialects } from './dialects.ts'
export {
  type ExplainedIsoField,
  explainIso8583,
  type Iso8583Explanation,
  type IsoJson,
  packIso8583,
} from './explain.ts'
export {
  FrameDecoder,
  type FrameHandler,
  type Framing,
  type FramingName,
  frameBytesMaxDefault,
  framings,
  headerBytes,
  writeFrame,
} from './framing.ts'
export { maskBytes, maskPan, maskText } from './mask.ts'
export {
  CardMessage,
  createMessagePacker,
  type GatewayMti,
  gatewayMtis,
  readMessage,
} from './message.ts'
export { createPacker, type FieldValue, type FieldValues, type Iso8583Packer } from './packer.ts'
export { createParser, type Iso8583Parser } from './parser.ts'
export {
  type AdditionalAmount,
  type BitmapLayout,
  formatAdditionalAmounts,
  formatBitmapData,
  formatOriginalData,
  formatPrivateData,
  formatReplacementAmounts,
  type OriginalData,
  type PrivateData,
  type PrivateElement,
  type PrivateLayout,
  parseAdditionalAmounts,
  parseBitmapData,
  parseOriginalData,
  parsePrivateData,
  parseReplacementAmounts,
  type ReplacementAmounts,
} from './subelements.ts'
export { parseTlv, type Tlv, writeTlv } from './tlv.ts'
