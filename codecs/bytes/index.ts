export { CodecError, type CodecErrorContext } from './error.ts'
