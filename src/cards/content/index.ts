export { type Content, createContent } from './content.ts'
export { type ContentForm, contentForm, type MessageName } from './form.ts'
export { MissingFactError, TooLongFactError } from './leaf.ts'
export {
  bitOf,
  type Details,
  type Facts,
  type Input,
  inputs,
  type MerchantProfile,
  type Secrets,
} from './sources.ts'
