export {
  buildCompositeBrCode,
  buildDynamicBrCode,
  buildStaticBrCode,
  checkTxid,
} from './build.ts'
export { crc16 } from './crc16.ts'
export { type BrCodeNode, explainBrCode } from './explain.ts'
export { parsePixKey, pixKeyKind } from './pix-key.ts'
export {
  type BrCode,
  parseBrCode,
} from './read.ts'
export { brcodeBytesMax } from './tape.ts'
export { hasAsciiForm, toAscii } from './text.ts'
