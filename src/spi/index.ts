export { iso20022Inspector } from './inspect/index.ts'
export { createTransform } from './transform/index.ts'
