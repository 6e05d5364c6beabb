import { status as codes, type Metadata } from '@grpc/grpc-js'
import { forwardedFor } from '#src/platform/http/index.ts'
import {
  forbiddenBy,
  type Networks,
  type Principal,
  type Scope,
} from '#src/platform/security/index.ts'
import { onlyText } from './metadata.ts'

/** Why a caller may not make a call. */
type Refusal = {
  readonly code: number
  readonly details: string
  /** As the audit log tells it; undefined where nobody is known to have called. */
  readonly outcome?: string
}

const forbidden = (outcome: string, details: string): Refusal => ({
  code: codes.PERMISSION_DENIED,
  details,
  outcome,
})

/** The address of the caller, whom trusted proxies stand before. @param peer address and port */
export const addressOf = (
  peer: string,
  metadata: Metadata,
  trustedProxies: Networks | undefined,
): string | undefined => {
  const address = /^\[?(.+?)\]?:\d+$/.exec(peer)?.[1]
  return forwardedFor(address, onlyText(metadata, 'x-forwarded-for') ?? '', trustedProxies)
}

/** Undefined if the caller may make the call. */
export const refusalOf = (
  principal: Principal | undefined,
  scope: Scope,
  address: () => string | undefined,
): Refusal | undefined => {
  if (principal === undefined) {
    const details = 'A valid API key is needed: send authorization: Bearer <key>.'
    return { code: codes.UNAUTHENTICATED, details }
  }
  if (!principal.scopes.has(scope)) {
    return forbidden('forbidden', `The API key lacks the scope ${scope}.`)
  }
  // Every method computes its answer from the request alone.
  const restriction = forbiddenBy(principal.restrictions, true, address)
  if (restriction === undefined) return undefined
  return forbidden(restriction, `The API key's restriction ${restriction} forbids this call.`)
}
