export type { AdviceName } from './base.ts'
export { type Content, createContent } from './content.ts'
export { type ContentForm, contentForm, type MessageName } from './form.ts'
export { MissingFactError, TooLongFactError } from './leaf.ts'
export {
  type Balance,
  bitOf,
  type Details,
  entries,
  type Facts,
  type Input,
  initiators,
  inputs,
  installmentPlans,
  type MerchantProfile,
  type Secrets,
  storedReasons,
} from './sources.ts'
