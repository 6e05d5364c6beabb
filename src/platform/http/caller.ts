import type { Scope } from '../security/index.ts'
import type { Actor } from './audit/domain.ts'
import { ApiError, httpErrors } from './errors.ts'
import { type IdempotencyKey, idempotencyKeyOf } from './idempotency/key.ts'
import type { RequestContext } from './route.ts'

/** Who makes a request. Use cases take it from the routes; {@link callerOf} makes it. */
export type Caller = {
  /** The account that the API key belongs to. It stays the same when the key is rotated. */
  readonly owner: string
  /** Public id of the API key. */
  readonly keyId: string
  readonly scopes: ReadonlySet<Scope>
  readonly requestId: string
  /** Undefined where the request has no Idempotency-Key. */
  readonly idempotencyKey: IdempotencyKey | undefined
}

/**
 * The caller of a request that needs an API key.
 *
 * @param body the body's bytes, where the route accepts an Idempotency-Key
 * @throws ApiError 400 when the Idempotency-Key is malformed
 */
export const callerOf = (c: RequestContext, body?: Uint8Array): Caller => {
  const { principal, requestId } = c.env
  if (principal === undefined) throw new ApiError(httpErrors.unauthorized, 'No key.')
  const { owner, keyId, scopes } = principal
  const idempotencyKey = body === undefined ? undefined : idempotencyKeyOf(c, owner, body)
  return { owner, keyId, scopes, requestId, idempotencyKey }
}

/** Whom the audit names. */
export const actorOf = ({ keyId, requestId }: Caller): Actor => ({ id: keyId, requestId })
