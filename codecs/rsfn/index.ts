export { type RsfnErrorCode, type RsfnFailureCode, rsfnErrors } from './errors.ts'
export { explainRsfn, type RsfnFieldExplained } from './explain.ts'
export {
  decodeRsfnHeader,
  encodeRsfnHeader,
  type RsfnHeader,
  type RsfnSpecialUse,
  rsfnAsymmetric,
  rsfnAuthorities,
  rsfnBlockBytes,
  rsfnHash,
  rsfnHeaderBytes,
  rsfnProtocol,
  rsfnSerial,
  rsfnSpecialUse,
  rsfnSymmetric,
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
