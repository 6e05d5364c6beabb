import type { Principal } from '../security/index.ts'
import { institutionScopes } from '../security/keys/scopes.ts'
import { ApiError, httpErrors } from './errors.ts'
import type { Exchange, Route } from './route.ts'

/**
 * Decides whether the caller may come in at all; the handler decides what of it is the caller's own.
 *
 * @throws ApiError `unauthorized`, `forbidden`, `not_found`
 */
export const authorize: (
  principal: Principal | undefined,
  route: Route,
) => asserts principal is Principal = (principal, { scope, path, ofInstitution }) => {
  if (principal === undefined) {
    throw new ApiError(
      httpErrors.unauthorized,
      'A valid API key is needed: send Authorization: Bearer <key>.',
      { headers: { 'WWW-Authenticate': 'Bearer' } },
    )
  }
  if (scope !== 'public' && !principal.scopes.has(scope)) {
    throw new ApiError(httpErrors.forbidden, `The API key lacks the scope ${scope}.`)
  }
  const isInstitutions = ofInstitution ?? (scope !== 'public' && institutionScopes.has(scope))
  if (!isInstitutions || principal.isInstitution) return
  // To other accounts, the institution's things do not exist; a path that names none of them may say why.
  const definition = path.includes('{') ? httpErrors.not_found : httpErrors.forbidden
  const told = `This is the institution's, and ${principal.owner} is not an account of the institution.`
  throw new ApiError(definition, told)
}

/** A token that is bound to a certificate is worthless without the certificate. */
export const requireCertificate = ({ certificate }: Principal, exchange: Exchange): void => {
  if (certificate === undefined || exchange.certificate() === certificate) return
  throw new ApiError(
    httpErrors.unauthorized,
    'The token is bound to a certificate, and the request did not come with it.',
    { headers: { 'WWW-Authenticate': 'Bearer error="invalid_token"' } },
  )
}
