import type { RequestContext, Route } from '#src/platform/http/index.ts'
import type { Scope } from '#src/platform/security/index.ts'
import { renderPixError } from './errors.ts'

/** Where the API Pix is. */
export const pixPath = '/pix/v2'

/**
 * A route of the API Pix. Our document does not describe it: the standard's does. Its errors are the standard's too.
 */
export const pixRoute = (
  method: Route['method'],
  path: string,
  scope: Scope,
  summary: string,
  more: {
    /** Takes a JSON body. */
    readonly bodyBytesMax?: number
    readonly bodyValuesMax?: number
    readonly isIdempotent?: true
    readonly handle: (c: RequestContext) => Response | Promise<Response>
  },
): Route => ({
  method,
  path: `${pixPath}${path}`,
  scope,
  errorStyle: renderPixError,
  ...(more.bodyBytesMax === undefined
    ? {}
    : { accepts: ['application/json'], bodyBytesMax: more.bodyBytesMax }),
  ...(more.bodyValuesMax === undefined ? {} : { bodyValuesMax: more.bodyValuesMax }),
  document: {
    operation: undefined,
    summary,
    responses: {},
    ...(more.isIdempotent && { idempotent: true }),
  },
  handle: more.handle,
})
