import { isInputDatabaseError, isTransientDatabaseError } from '#src/platform/database/index.ts'
import { ApiError, httpErrors } from './errors.ts'

/**
 * How a feature's errors look: RFC 9457 problem details, `{error: {code, message, details}}`, or as a foreign standard
 * has them.
 */
export type ErrorStyle = 'problem' | 'envelope' | ErrorRenderer

/** Renders every error of its routes, 401 and 403 too. */
export type ErrorRenderer = (error: ApiError, requestId: string) => Response

/** Where the catalogue is served: the `type` of a problem is this prefix and the code. */
export const errorTypePrefix = '/v1/errors/'

export const problemContentType = 'application/problem+json'

/** The response for an error; 401 and 403 look the same in every style of ours, as specified. */
export const renderError = (error: ApiError, style: ErrorStyle, requestId: string): Response => {
  if (typeof style === 'function') return style(error, requestId)
  const { definition } = error
  if (definition.status === 401 || definition.status === 403) {
    const code = definition.status === 401 ? 'UNAUTHORIZED' : 'FORBIDDEN'
    return respond({ error: { code, message: error.message } }, 'application/json', error)
  }
  switch (style) {
    case 'problem':
      return respond(problemBody(error, requestId), problemContentType, error)
    case 'envelope':
      return respond(
        {
          error: {
            code: definition.code.toUpperCase(),
            message: error.message,
            details: envelopeDetails(error),
          },
        },
        'application/json',
        error,
      )
  }
}

const respond = (body: unknown, contentType: string, error: ApiError): Response =>
  new Response(JSON.stringify(body), {
    status: error.definition.status,
    headers: { 'Content-Type': contentType, ...error.headers },
  })

/** The problem details of an error (RFC 9457). */
export const problemBody = (error: ApiError, requestId: string): Record<string, unknown> => {
  const { definition } = error
  return {
    type: errorTypePrefix + definition.code,
    title: definition.title,
    status: definition.status,
    detail: error.message,
    code: definition.code,
    retryable: definition.retryable,
    request_id: requestId,
    ...error.details,
    ...(error.errors.length === 0 ? {} : { errors: error.errors }),
  }
}

/** The envelope names one field: that of the first violation, unless the feature gave its own details. */
const envelopeDetails = (error: ApiError): Readonly<Record<string, unknown>> => {
  const first = error.errors[0]
  if (first === undefined) return error.details
  return {
    field: first.pointer.replace(/^\//, '').replaceAll('/', '.'),
    value: first.got ?? null,
    ...error.details,
  }
}

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
