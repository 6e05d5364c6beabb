import {
  ApiError,
  countRequest,
  httpErrors,
  mediaType,
  parseJson,
  type RequestContext,
  type Route,
  type RouteContract,
  readBytes,
  route,
} from '#src/platform/http/index.ts'
import {
  type Authenticator,
  forbiddenBy,
  type Principal,
  parseKey,
  pixScopes,
  type Scope,
} from '#src/platform/security/index.ts'
import type { IssueToken } from './tokens.ts'

export type TokenRouteDeps = {
  readonly authenticator: Authenticator
  readonly issue: IssueToken
  readonly seconds: number
}

const bodyBytesMax = 4_096
const form = 'application/x-www-form-urlencoded'
const json = 'application/json'

/** The scopes that a token may have, as the standard spells them. */
const standardScopes: ReadonlyMap<string, Scope> = new Map(
  pixScopes.map((scope) => [scope.replace(':', '.'), scope]),
)

/**
 * OAuth 2.0 client credentials (RFC 6749 section 4.4). The client is an API key: its id is client_id, its text
 * client_secret. Clients in use send the parameters as a form, as JSON, or in the query.
 */
export const tokenRoute = ({ authenticator, issue, seconds }: TokenRouteDeps): Route => {
  const contract: RouteContract = {
    at: 'POST /oauth/token',
    scope: 'public',
    accepts: [form, json],
    bodyBytesMax,
    errorStyle: renderOauthError,
    operation: undefined,
    summary: 'Token de acesso',
    responses: {},
  }
  return route(contract, async ({ c }) => {
    const parameters = await parametersOf(c)
    const grantType = parameters.get('grant_type')
    if (grantType !== 'client_credentials') {
      throw refused('unsupported_grant_type', 'grant_type must be client_credentials.')
    }
    const { principal, secretHash } = await clientOf(c, parameters, authenticator)
    await countRequest(c.env, principal)
    const granted = grantedScopes(principal, parameters.get('scope'))
    const certificate = c.env.certificate()
    const token = await issue({
      keyId: principal.keyId,
      secretHash,
      scopes: granted,
      certificate,
      seconds,
      notAfter: principal.expiresAt,
    })
    c.env.logFields = { client_id: principal.keyId }
    const scope = granted.map((one) => one.replace(':', '.')).join(' ')
    const body = {
      access_token: token.text,
      token_type: 'Bearer',
      expires_in: token.seconds,
      scope,
    }
    return Response.json(body, { headers: noStore })
  })
}

const noStore = { 'Cache-Control': 'no-store', Pragma: 'no-cache' }

/** Returns the parameters of the query and of the body; the body counts first. */
const parametersOf = async (c: RequestContext): Promise<ReadonlyMap<string, string>> => {
  const bytes = await readBytes(c)
  const type = mediaType(c.req.raw.headers.get('content-type') ?? '')
  const query = new URL(c.req.raw.url, 'http://localhost').searchParams
  if (bytes.length === 0) return new Map(query)
  if (type !== json) {
    return new Map([...query, ...new URLSearchParams(Buffer.from(bytes).toString('utf8'))])
  }
  const body = parseJson(bytes)
  const members = typeof body === 'object' && body !== null ? Object.entries(body) : []
  const texts = members.filter(
    (member): member is [string, string] => typeof member[1] === 'string',
  )
  return new Map([...query, ...texts])
}

/** RFC 6749 section 5.2. */
type OauthCode = 'invalid_request' | 'invalid_client' | 'invalid_scope' | 'unsupported_grant_type'

const refused = (code: OauthCode, message: string): ApiError => {
  const isClient = code === 'invalid_client'
  return new ApiError(isClient ? httpErrors.unauthorized : httpErrors.bad_request, message, {
    details: { code },
    headers: isClient ? { 'WWW-Authenticate': 'Basic realm="API Pix", charset="UTF-8"' } : {},
  })
}

/** Codes for what is not the request's fault, which RFC 6749 names only in section 4.1.2.1. */
const oauthCodeOf = (status: number): string => {
  if (status === 429 || status === 503) return 'temporarily_unavailable'
  return status >= 500 ? 'server_error' : 'invalid_request'
}

const renderOauthError: NonNullable<Route['errorStyle']> = ({
  definition,
  message,
  details,
  headers,
}) =>
  new Response(
    JSON.stringify({
      error: details['code'] ?? oauthCodeOf(definition.status),
      error_description: message,
    }),
    {
      status: definition.status,
      headers: { 'Content-Type': json, ...noStore, ...headers },
    },
  )

/** @throws ApiError `invalid_client` if the credentials are no key's that may be used from there */
const clientOf = async (
  c: RequestContext,
  parameters: ReadonlyMap<string, string>,
  authenticator: Authenticator,
): Promise<{ readonly principal: Principal; readonly secretHash: string }> => {
  const basic = basicOf(c.req.raw.headers.get('authorization'))
  const id = basic?.id ?? parameters.get('client_id')
  const secret = basic?.secret ?? parameters.get('client_secret')
  const shown = parseKey(secret ?? '')
  const principal = shown && (await authenticator.verify(`Bearer ${secret}`))
  if (
    shown === undefined ||
    principal === undefined ||
    principal.keyId !== id ||
    forbiddenBy(principal.restrictions, true, c.env.address) !== undefined
  ) {
    throw refused('invalid_client', 'The client is not known, or its secret is another.')
  }
  return { principal, secretHash: shown.hash.toString('hex') }
}

const basicOf = (
  header: string | null,
): { readonly id: string; readonly secret: string } | undefined => {
  const encoded = /^basic +([A-Za-z0-9+/]+={0,2})$/i.exec(header ?? '')?.[1]
  if (encoded === undefined) return undefined
  const text = Buffer.from(encoded, 'base64').toString('utf8')
  const colon = text.indexOf(':')
  if (colon === -1) return undefined
  return { id: text.slice(0, colon), secret: text.slice(colon + 1).trim() }
}

/** All scopes that the key has, or, where `scope` is given, those of the wanted ones that it has. */
const grantedScopes = (
  { scopes: held }: Principal,
  wanted: string | undefined,
): readonly Scope[] => {
  const names = wanted?.split(/[\s,+]+/).filter((name) => name !== '')
  const isWanted = (name: string): boolean =>
    names === undefined || names.length === 0 || names.includes(name)
  const granted = [...standardScopes].flatMap(([name, scope]) =>
    isWanted(name) && held.has(scope) ? [scope] : [],
  )
  if (granted.length > 0) return granted
  throw refused('invalid_scope', 'The client has none of the scopes.')
}
