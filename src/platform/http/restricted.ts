import type { RestrictionName } from '../security/index.ts'
import { ApiError, httpErrors } from './errors.ts'

/**
 * The error of an act that a key's restriction forbids.
 *
 * @param what as in "forbids this request"
 */
export const restrictedBy = (restriction: RestrictionName, what: string): ApiError =>
  new ApiError(httpErrors.restricted, `The API key's restriction ${restriction} forbids ${what}.`, {
    details: { restriction },
  })

/** The restriction that such an error names. */
export const restrictionOf = (error: unknown): string | undefined => {
  if (!(error instanceof ApiError) || error.definition !== httpErrors.restricted) return undefined
  return String(error.details['restriction'])
}
