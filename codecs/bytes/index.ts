export { CodecError, type CodecErrorContext } from './error.ts'
export { trimmed } from './trim.ts'
