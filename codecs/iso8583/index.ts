/**
 * Messages of card networks, ISO 8583:1987 and 1993: dialects, packer, parser, frames, masking.
 *
 * @example
 * const { ascii } = dialects
 * const out = new Uint8Array(512)
 * const end = createPacker(ascii!).pack('0800', { 11: '000001', 70: '301' }, out)
 * createParser(ascii!).parse(out, 0, end).text(70) // '301'
 */
export { bytesOfHex } from './characters.ts'
export {
  type Composite,
  type CompositeEntry,
  compositeShapes,
  createCompositeWriter,
  entryEncodings,
  type ReadEntry,
  readComposite,
} from './composites.ts'
export { type Dialect, type FieldSpec, parseDialect } from './dialect.ts'
export { dialects } from './dialects.ts'
export { type ExplainedIsoField, explainIso8583, packIso8583 } from './explain.ts'
export {
  FrameDecoder,
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
  createFieldGetter,
  createFieldSetter,
  createMessagePacker,
  type GatewayMti,
  gatewayMtis,
  macFieldOf,
  readAnswer,
  readMessage,
} from './message.ts'
export { createPacker, type FieldValue } from './packer.ts'
export { createParser, type Iso8583Parser } from './parser.ts'
export { shownFields } from './shown.ts'
export {
  type AdditionalAmount,
  formatAdditionalAmounts,
  formatOriginalData,
  formatReplacementAmounts,
  parseAdditionalAmounts,
  parseBitmapData,
  parseOriginalData,
  parseReplacementAmounts,
} from './subelements.ts'
export { parseTlv, parseTlvWithin, writeTlv } from './tlv.ts'
