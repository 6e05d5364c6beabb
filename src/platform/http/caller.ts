import type { KeyEnvironment, Restrictions, Scope } from '../security/index.ts'
import type { Actor } from './audit/domain.ts'
import { ApiError, httpErrors } from './errors.ts'
import { type IdempotencyKey, idempotencyKeyOf } from './idempotency/key.ts'
import { acceptedBy, type RequestContext } from './route.ts'

/** Who makes a request. Use cases take it from the routes; {@link callerOf} makes it. */
export type Caller = {
  /** The account that the API key belongs to. It stays the same when the key is rotated. */
  readonly owner: string
  /** Public id of the API key. */
  readonly keyId: string
  readonly environment: KeyEnvironment
  readonly scopes: ReadonlySet<Scope>
  /** Narrows what the scopes allow, in the parts that it names. */
  readonly restrictions: Restrictions
  /** When the API key ends, or the former secret that was shown; undefined: never. */
  readonly expiresAt?: Date | undefined
  readonly requestId: string
  /** Undefined if the request has no Idempotency-Key. */
  readonly idempotencyKey: IdempotencyKey | undefined
}

/**
 * The caller of a request that needs an API key. Where the route takes an Idempotency-Key its body, if it has one, has
 * been read: the key is for this body.
 *
 * @throws ApiError 400 when the Idempotency-Key is malformed
 */
export const callerOf = (c: RequestContext): Caller => {
  const { principal, requestId, route, body } = c.env
  if (principal === undefined) throw new ApiError(httpErrors.unauthorized, 'No key.')
  const { owner, keyId, environment, scopes, restrictions, expiresAt } = principal
  const takesKey = route?.document.idempotent === true
  if (takesKey && acceptedBy(route) !== undefined && body === undefined) {
    throw new Error('the body has not been read')
  }
  const idempotencyKey = takesKey ? idempotencyKeyOf(c, owner, body ?? none) : undefined
  const by = { owner, keyId, environment, scopes, restrictions, expiresAt }
  return { ...by, requestId, idempotencyKey }
}

const none = new Uint8Array()

/** The actor that the audit names. */
export const actorOf = ({ keyId, requestId }: Caller): Actor => ({ id: keyId, requestId })
