export { luhnSum } from './card-number.ts'
export { isCardNumber } from './digits.ts'
export {
  findInIdentifier,
  findSensitive,
  scrub,
  scrubFields,
  scrubLine,
  valueWithoutSecrets,
  withoutSecrets,
} from './text.ts'
