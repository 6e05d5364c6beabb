import { CodecError } from '#codecs/bytes'

/** RFC 2046 section 5.1.1. */
export const boundaryCharsMax = 70

/** bchars, of which the last is not a space. Same source. */
const boundaryForm = /^[0-9A-Za-z'()+_,./:=? -]{0,69}[0-9A-Za-z'()+_,./:=?-]$/
const mediaTypeForm = /^[ \t]*multipart\/mixed[ \t]*(?=;|$)/i
// parameter = ";" OWS token OWS "=" OWS ( token | quoted-string )
const parameterForm =
  /;[ \t]*([!#$%&'*+.^_`|~0-9A-Za-z-]+)[ \t]*=[ \t]*(?:"((?:[^"\\]|\\.)*)"|([^\s;"]+))[ \t]*/y

/** @throws CodecError `multipart_boundary` */
export const checkBoundary = (boundary: string): void => {
  if (!boundaryForm.test(boundary)) {
    throw new CodecError('multipart_boundary', 0, 'boundary is not one of RFC 2046', {
      length: boundary.length,
      lengthMax: boundaryCharsMax,
    })
  }
}

/**
 * The boundary that a Content-Type names, quoted or not.
 *
 * @throws CodecError `multipart_content_type` when it is not multipart/mixed or cannot be read,
 *   `multipart_boundary` when the boundary is missing, given twice or not legal
 * @example boundaryOf('multipart/mixed; boundary="simple boundary"') // 'simple boundary'
 */
export const boundaryOf = (contentType: string): string => {
  const mediaType = mediaTypeForm.exec(contentType)
  if (mediaType === null) {
    throw new CodecError('multipart_content_type', 0, 'Content-Type is not multipart/mixed')
  }
  let boundary: string | undefined
  let at = mediaType[0].length
  while (at < contentType.length) {
    parameterForm.lastIndex = at
    const parameter = parameterForm.exec(contentType)
    if (parameter === null) {
      throw new CodecError('multipart_content_type', at, 'Content-Type has a malformed parameter')
    }
    const [text, name, quoted, token] = parameter
    if (name?.toLowerCase() === 'boundary') {
      if (boundary !== undefined) {
        throw new CodecError('multipart_boundary', at, 'Content-Type names two boundaries')
      }
      boundary = quoted === undefined ? (token ?? '') : quoted.replace(/\\(.)/g, '$1')
    }
    at += text.length
  }
  if (boundary === undefined) {
    throw new CodecError('multipart_boundary', at, 'Content-Type names no boundary')
  }
  checkBoundary(boundary)
  return boundary
}

/** The Content-Type of a body written with this boundary; always quoted. */
export const multipartContentType = (boundary: string): string => {
  checkBoundary(boundary)
  return `multipart/mixed; boundary="${boundary}"`
}
