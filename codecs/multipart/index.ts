export { BOUNDARY_CHARS_MAX, boundaryOf, multipartContentType } from './boundary.ts'
export {
  decodeMultipart,
  MULTIPART_LIMITS,
  type MultipartLimits,
  type MultipartPart,
  MultipartReader,
} from './reader.ts'
export { encodeMultipart, type MultipartPartToWrite, writeMultipart } from './writer.ts'
