export { bytesArray, textArray } from './array.ts'
