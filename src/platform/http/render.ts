import { isInputDatabaseError, isTransientDatabaseError } from '#src/platform/database/index.ts'
import { ApiError, httpErrors, textOf, type Violation } from './errors.ts'
import type { Language } from './language.ts'
import {
  type Lookups,
  portugueseOf,
  portugueseViolation,
  startLookups,
} from './portuguese/index.ts'

/**
 * How a feature's errors look: RFC 9457 problem details, `{error: {code, message, details}}`, or as a foreign standard
 * has them.
 */
export type ErrorStyle = 'problem' | 'envelope' | ErrorRenderer

/** Renders every error of its routes, 401 and 403 too. */
export type ErrorRenderer = (error: ApiError, requestId: string) => Response

/** The path of the catalogue: the `type` of a problem is this prefix and the code. */
export const errorTypePrefix = '/v1/errors/'

export const problemContentType = 'application/problem+json'

/** The response for an error; 401 and 403 look the same in every style of ours, as specified. */
export const renderError = (
  error: ApiError,
  style: ErrorStyle,
  requestId: string,
  language: Language = 'en',
): Response => {
  if (typeof style === 'function') return style(error, requestId)
  const isProblem = style === 'problem' && !isOfAccess(error)
  return new Response(JSON.stringify(errorBody(error, style, requestId, language)), {
    status: error.definition.status,
    headers: {
      'Content-Type': isProblem ? problemContentType : 'application/json',
      'Content-Language': language,
      Vary: 'Accept-Language',
      ...error.headers,
    },
  })
}

const isOfAccess = ({ definition: { status } }: ApiError): boolean =>
  status === 401 || status === 403

/** The body of the answer of an error. */
const errorBody = (
  error: ApiError,
  style: 'problem' | 'envelope',
  requestId: string,
  language: Language,
): Record<string, unknown> => {
  const { definition } = error
  if (style === 'problem' && !isOfAccess(error)) return problemBody(error, requestId, language)
  const message = detailOf(error, language)
  if (isOfAccess(error)) {
    return { error: { code: definition.status === 401 ? 'UNAUTHORIZED' : 'FORBIDDEN', message } }
  }
  const code = definition.code.toUpperCase()
  return { error: { code, message, details: envelopeDetails(error) } }
}

/** An error's text for people: in Portuguese the meaning of its code, if the catalogue lacks its own words. */
export const detailOf = (error: ApiError, language: Language, lookups = startLookups()): string => {
  if (language === 'en') return error.message
  const told = portugueseSummary(error, lookups) ?? portugueseOf(error.message, lookups)
  return told ?? error.definition.pt.meaning
}

/** The Portuguese for an error whose own message only repeats its first violation. */
const portugueseSummary = ({ message, errors }: ApiError, lookups: Lookups): string | undefined => {
  const [first] = errors
  if (first === undefined) return undefined
  const more = errors.length - 1
  const end = `: ${first.message}${more === 0 ? '' : ` (and ${more} more)`}`
  if (!message.endsWith(end)) return undefined
  const place = message.slice(0, -end.length)
  const rest = more === 0 ? '' : ` (e mais ${more})`
  return `${portugueseOf(place, lookups) ?? place}: ${portugueseViolation(first, lookups)}${rest}`
}

/** The expected value is for people, too, if it is a known text. */
const inPortuguese = (one: Violation, lookups: Lookups): Violation => ({
  ...one,
  message: portugueseViolation(one, lookups),
  ...(typeof one.expected === 'string' && {
    expected: portugueseOf(one.expected, lookups) ?? one.expected,
  }),
})

/** The problem details of an error (RFC 9457). */
export const problemBody = (
  error: ApiError,
  requestId: string,
  language: Language = 'en',
): Record<string, unknown> => {
  const { definition } = error
  const lookups = startLookups()
  const told = (one: Violation) => (language === 'en' ? one : inPortuguese(one, lookups))
  return {
    type: errorTypePrefix + definition.code,
    title: textOf(definition, language).title,
    status: definition.status,
    detail: detailOf(error, language, lookups),
    code: definition.code,
    retryable: definition.retryable,
    request_id: requestId,
    ...error.details,
    ...(error.errors.length === 0 ? {} : { errors: error.errors.map(told) }),
  }
}

/**
 * The envelope names one field: that of the first violation, unless the feature gave its own details. Both members are
 * null where no field is at fault.
 */
const envelopeDetails = ({ errors: [first], details }: ApiError) => ({
  field: first?.pointer.replace(/^\//, '').replaceAll('/', '.') || null,
  value: first?.got ?? null,
  ...details,
})

/** The error that the caller sees for an unexpected exception: no detail leaves the process. */
export const internalError = (cause: unknown): ApiError => {
  if (cause instanceof ApiError) return cause
  if (isTransientDatabaseError(cause)) {
    const headers = { 'Retry-After': retryAfterSeconds }
    const message = 'The database does not answer now.'
    return new ApiError(httpErrors.database_unavailable, message, { cause, headers })
  }
  if (isInputDatabaseError(cause)) {
    const message = 'The request holds a value that the database cannot store.'
    // The database's message quotes the value; it stays inside.
    const errors = [{ pointer: '', rule: cause.code, message: 'cannot be stored' }]
    return new ApiError(httpErrors.bad_request, message, { cause, errors })
  }
  return new ApiError(httpErrors.internal, 'The gateway failed to handle the request.', { cause })
}

const retryAfterSeconds = '1'
