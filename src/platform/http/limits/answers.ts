import { ApiError, httpErrors } from '../errors.ts'
import type { Allowance } from './rate.ts'

/** The fields of draft-ietf-httpapi-ratelimit-headers: the policy, and what is left of it until when. */
export const rateHeaders = ({
  name,
  perSecond,
  burst,
  left,
  waitMs,
}: Allowance): Readonly<Record<string, string>> => {
  const windowSeconds = Math.ceil(burst / perSecond)
  const refillSeconds = Math.ceil(
    waitMs === undefined ? (burst - left) / perSecond : waitMs / 1_000,
  )
  return {
    'RateLimit-Policy': `"${name}";q=${burst};w=${windowSeconds}`,
    RateLimit: `"${name}";r=${Math.min(left, burst)};t=${Math.max(0, refillSeconds)}`,
  }
}

/** The error of a request over the limit. */
export const rateLimited = (allowance: Allowance & { readonly waitMs: number }): ApiError => {
  const { name, perSecond, waitMs } = allowance
  return new ApiError(
    httpErrors.rate_limited,
    `The API ${name === 'key' ? 'key' : 'key’s account'} may make ${perSecond} requests a second.`,
    { headers: { 'Retry-After': String(Math.ceil(waitMs / 1_000)) } },
  )
}
