import { gunzip } from 'node:zlib'
import type { XmlExplanation } from '#codecs/xml'
import {
  ApiError,
  bodyBytesMaxDefault,
  contentCodingOf,
  httpErrors,
  mediaType,
  namedType,
  type RequestContext,
  readEncodedBytes,
} from '#src/platform/http/index.ts'

/** The types of a body that is the document itself. */
export const xmlTypes = ['application/xml', 'text/xml'] as const

export const isXml = (c: RequestContext): boolean => {
  const given = c.req.raw.headers.get('content-type') ?? ''
  return isXmlType(given) || isXmlType(mediaType(given))
}

/** True when the caller names XML and not JSON: anything else gets JSON. What is answered then varies by `Accept`. */
export const wantsXml = (c: RequestContext): boolean => {
  const accept = c.req.raw.headers.get('accept') ?? ''
  const isNamed = (type: string): boolean => namedType(accept, [type]) !== undefined
  return isNamed('application/xml') && !isNamed('application/json')
}

const isXmlType = (type: string): boolean => (xmlTypes as readonly string[]).includes(type)

/**
 * Reads the body, which may be compressed; the limit of a body holds for what comes out of it as well.
 *
 * @throws ApiError 413, 415 for another Content-Encoding, 400 for bytes that are not compressed as they say
 */
export const readMessageBody = (c: RequestContext): Promise<Uint8Array> => {
  const encoding = contentCodingOf(c)
  const read = readEncodedBytes(c)
  return encoding === '' ? read : read.then((bytes) => decoded(encoding, bytes))
}

const decoded = (encoding: string, bytes: Uint8Array): Promise<Uint8Array> => {
  if (encoding !== 'gzip' && encoding !== 'x-gzip') {
    throw new ApiError(
      httpErrors.unsupported_media_type,
      `The Content-Encoding may be gzip, got ${encoding.slice(0, 64)}.`,
      { headers: { 'Accept-Encoding': 'gzip' } },
    )
  }
  return decompressed(bytes)
}

const decompressed = (bytes: Uint8Array): Promise<Uint8Array> =>
  new Promise((resolve, reject) => {
    gunzip(bytes, { maxOutputLength: bodyBytesMaxDefault }, (error, plain) => {
      if (error === null) resolve(plain)
      else if ((error as { code?: unknown }).code === 'ERR_BUFFER_TOO_LARGE') {
        const told = `The body is over ${bodyBytesMaxDefault} bytes when it is decompressed.`
        reject(new ApiError(httpErrors.body_too_large, told))
      } else reject(new ApiError(httpErrors.bad_request, 'The body is not gzip.'))
    })
  })

/** Codes of what is too much of something. */
export const tooLarge: ReadonlySet<string> = new Set([
  'document_too_large',
  'depth_exceeded',
  'attributes_exceeded',
  'name_too_long',
  'text_too_long',
  'elements_exceeded',
])

/** Why a document could not be read: too much of something, in an encoding that we do not take, or not XML. */
export const unreadable = ({ line, column, reason, code }: XmlExplanation): ApiError => {
  const place = `line ${line}, column ${column}: ${reason}.`
  const details = { details: { line, column, reason, rule: code } }
  if (tooLarge.has(code)) {
    return new ApiError(httpErrors.body_too_large, `The message is too large at ${place}`, details)
  }
  if (code === 'encoding_unsupported') {
    const told = `The message must be in UTF-8: ${place}`
    return new ApiError(httpErrors.unsupported_media_type, told, details)
  }
  return new ApiError(
    httpErrors.bad_request,
    `The message is not well-formed XML: ${place}`,
    details,
  )
}
