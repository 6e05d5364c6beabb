export {
  type BrCodeMerchant,
  buildCompositeBrCode,
  buildDynamicBrCode,
  buildStaticBrCode,
  type CompositeBrCode,
  checkTxid,
  type DynamicBrCode,
  type StaticBrCode,
} from './build.ts'
export { crc16 } from './crc16.ts'
export { type BrCodeNode, type BrCodeTree, explainBrCode } from './explain.ts'
export {
  isCnpj,
  isCpf,
  PIX_KEY_KINDS,
  type PixKeyKind,
  parsePixKey,
  pixKeyKind,
} from './pix-key.ts'
export {
  type BrCode,
  type BrCodeWarning,
  type PixCodeKind,
  type PixReading,
  parseBrCode,
} from './read.ts'
export { BRCODE_BYTES_MAX, LENGTH_UNITS, type LengthUnit } from './tape.ts'
export { toAscii } from './text.ts'
