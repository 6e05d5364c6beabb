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
  type PixKeyKind,
  parsePixKey,
  pixKeyKind,
  pixKeyKinds,
} from './pix-key.ts'
export {
  type BrCode,
  type BrCodeWarning,
  type PixCodeKind,
  type PixReading,
  parseBrCode,
} from './read.ts'
export { brcodeBytesMax, type LengthUnit, lengthUnits } from './tape.ts'
export { toAscii } from './text.ts'
