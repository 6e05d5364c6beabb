import { ApiError, httpErrors } from '../errors.ts'
import type { RequestContext } from '../route.ts'

const keyLengthMax = 255

/**
 * The Idempotency-Key header: 1 to 255 printable ASCII characters, bare or as a quoted string
 * (draft-ietf-httpapi-idempotency-key-header). Undefined when absent; a malformed one is refused.
 */
export const idempotencyKeyOf = (c: RequestContext): string | undefined => {
  const header = c.req.raw.headers.get('idempotency-key')
  if (header === null) return undefined
  const key = /^"(.*)"$/s.exec(header.trim())?.[1]?.replace(/\\(["\\])/g, '$1') ?? header.trim()
  if (key.length === 0 || key.length > keyLengthMax || !/^[\x20-\x7e]+$/.test(key)) {
    throw new ApiError(
      httpErrors.bad_request,
      `Idempotency-Key must be 1 to ${keyLengthMax} printable ASCII characters.`,
      { errors: [{ pointer: 'Idempotency-Key', rule: 'form', message: 'is malformed' }] },
    )
  }
  return key
}
