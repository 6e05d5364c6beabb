/** Cryptography of card networks: message authentication codes, key check values, wrapped keys, PIN blocks. */
export {
  checkValueOf,
  KeyRefusedError,
  unwrapDesKey,
  withParity,
  wrapDesKey,
} from './keys.ts'
export { type MacAlgorithm, macAlgorithms, macBytes, macOf } from './mac.ts'
export {
  isClearPinBlock,
  PinBlockError,
  type PinFormat,
  sealPin,
  translatePin,
} from './pin-block.ts'
