export { createTransform } from './transform/index.ts'
