export { boundaryCharsMax, boundaryOf, multipartContentType } from './boundary.ts'
export {
  decodeMultipart,
  interfaceMultipartLimits,
  type MultipartLimits,
  type MultipartPart,
  MultipartReader,
} from './reader.ts'
export { encodeMultipart, type MultipartPartToWrite, writeMultipart } from './writer.ts'
