export { RSFN_ERRORS, type RsfnErrorCode, type RsfnFailureCode } from './errors.ts'
export { explainRsfn, type RsfnFieldExplained } from './explain.ts'
export {
  decodeRsfnHeader,
  encodeRsfnHeader,
  RSFN_ASYMMETRIC,
  RSFN_AUTHORITIES,
  RSFN_BLOCK_BYTES,
  RSFN_HASH,
  RSFN_HEADER_BYTES,
  RSFN_PROTOCOL,
  RSFN_SPECIAL_USE,
  RSFN_SYMMETRIC,
  type RsfnHeader,
  type RsfnSpecialUse,
  rsfnSerial,
  withRsfnError,
} from './header.ts'
export {
  checkRsfnHeader,
  openRsfn,
  type RsfnOpened,
  type RsfnPolicy,
  type RsfnRefused,
} from './open.ts'
export { pkcs1Pad, pkcs1Unpad } from './padding.ts'
export type {
  RsfnCiphers,
  RsfnOpenPorts,
  RsfnRecipient,
  RsfnSealPorts,
  RsfnSender,
  RsfnUnknown,
} from './ports.ts'
export { clearRsfn, type RsfnParty, type RsfnSealRequest, sealRsfn } from './seal.ts'
export { decodeUtf16be, encodeUtf16be } from './utf16.ts'
