export { type RsfnFailureCode, rsfnErrors } from './errors.ts'
export { explainRsfn, type RsfnFieldExplained } from './explain.ts'
export {
  decodeRsfnHeader,
  encodeRsfnHeader,
  type RsfnHeader,
  type RsfnSpecialUse,
  rsfnAuthorities,
  rsfnHeaderBytes,
  rsfnSerial,
  rsfnSpecialUse,
  withRsfnError,
} from './header.ts'
export {
  openRsfn,
  type RsfnPolicy,
} from './open.ts'
export { pkcs1Pad, pkcs1Unpad } from './padding.ts'
export type {
  RsfnCiphers,
  RsfnOpenPorts,
  RsfnRecipient,
  RsfnSealPorts,
  RsfnSender,
} from './ports.ts'
export { clearRsfn, type RsfnSealRequest, sealRsfn } from './seal.ts'
export { decodeUtf16be, encodeUtf16be } from './utf16.ts'
