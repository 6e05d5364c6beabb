export { findInIdentifier, findSensitive, scrub, scrubFields, scrubLine } from './text.ts'
