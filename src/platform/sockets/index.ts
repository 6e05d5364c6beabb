export { SendBuffer } from './send-buffer.ts'
