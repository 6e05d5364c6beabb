export { boundaryCharsMax, boundaryOf, multipartContentType } from './boundary.ts'
export { decodeMultipart, type MultipartPart, MultipartReader, multipartLimits } from './reader.ts'
export { salvageMultipart } from './salvage.ts'
export { encodeMultipart } from './writer.ts'
