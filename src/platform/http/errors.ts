import { valueWithoutSecrets, withoutSecrets } from '../security/sensitive/index.ts'
import type { Language } from './language.ts'
import { portugueseOfError } from './portuguese/errors.ts'

/** The words of an error for people. */
type ErrorText = {
  /** A short name, the same for every occurrence. */
  readonly title: string
  readonly meaning: string
  /** What the caller or the operator should do. */
  readonly remedy: string
}

/** One kind of failure a caller can see. Codes are append-only: never renamed, never reused. */
export type ErrorDefinition = ErrorText & {
  readonly code: string
  readonly status: number
  /** The same in Portuguese. */
  readonly pt: ErrorText
  /** True when the same request may succeed later without a change. */
  readonly retryable: boolean
}

/** The text of an error in a language. */
export const textOf = (definition: ErrorDefinition, language: Language): ErrorText =>
  language === 'pt-BR' ? definition.pt : definition

export type ErrorCatalogue = Readonly<Record<string, ErrorDefinition>>

/** An error as a feature declares it; not retryable unless it says so. */
type DeclaredError = Omit<ErrorDefinition, 'code' | 'pt' | 'retryable'> & {
  readonly retryable?: true
}

/**
 * Declares a feature's errors: `defineErrors({ not_queued: { status: 503, title, … } })`. A line of
 * `portuguese/errors.tsv` gives each its Portuguese text.
 */
export const defineErrors = <const C extends string>(
  entries: Readonly<Record<C, DeclaredError>>,
): { readonly [K in C]: ErrorDefinition } => {
  const catalogue = {} as Record<C, ErrorDefinition>
  for (const code of Object.keys(entries) as C[]) {
    catalogue[code] = { code, pt: portugueseOfError(code), retryable: false, ...entries[code] }
  }
  return catalogue
}

/** One broken rule. Its maker leaves out values that may hold personal or card data. */
export type Violation = {
  /** The place: a JSON Pointer, an XPath, or the name of a parameter or header. */
  readonly pointer: string
  readonly rule: string
  readonly message: string
  readonly expected?: string | number
  readonly got?: string | number
}

/**
 * Handlers throw it for an outcome that the caller should see; any other error becomes a 500. Texts quote what was
 * sent, and any field may hold a secret: so no text, wherever it is made, shows anything like one.
 */
export class ApiError extends Error {
  override readonly name = 'ApiError'
  readonly definition: ErrorDefinition
  readonly errors: readonly Violation[]
  /** Further members of the problem (RFC 9457 section 3.2), or `details` of the envelope style. */
  readonly details: Readonly<Record<string, unknown>>
  readonly headers: Readonly<Record<string, string>>

  constructor(
    definition: ErrorDefinition,
    message: string,
    more: {
      readonly errors?: readonly Violation[]
      readonly details?: Readonly<Record<string, unknown>>
      readonly headers?: Readonly<Record<string, string>>
      readonly cause?: unknown
    } = {},
  ) {
    super(withoutSecrets(message), more.cause === undefined ? undefined : { cause: more.cause })
    this.definition = definition
    this.errors = (more.errors ?? []).map((one) => valueWithoutSecrets(one) as Violation)
    this.details = valueWithoutSecrets(more.details ?? {}) as ApiError['details']
    this.headers = more.headers ?? {}
  }
}

/** The errors every feature shares. The first six slugs are the specification's. */
export const httpErrors = defineErrors({
  bad_request: {
    status: 400,
    title: 'Bad request',
    meaning: 'The request cannot be read: malformed JSON or XML, or a malformed header.',
    remedy: 'Correct the request at the place named in detail.',
  },
  not_found: {
    status: 404,
    title: 'Not found',
    meaning: 'No such path, or no resource with this identifier.',
    remedy: 'Check path and identifier.',
  },
  validation_failed: {
    status: 400,
    title: 'Validation failed',
    meaning: 'The request is well-formed but a field breaks a rule; errors lists every one.',
    remedy: 'Correct the fields named in errors.',
  },
  value_refused: {
    status: 400,
    title: 'Value refused',
    meaning:
      'The request fits its published schema, but a value in it cannot be taken: a wrong check digit, a cursor that no list gave, a member that does not go with another; errors lists every one.',
    remedy: 'Correct the values named in errors.',
  },
  message_rejected: {
    status: 422,
    title: 'Message rejected',
    meaning: 'The message is of another type than declared, or is not acceptable as it stands.',
    remedy: 'Send the message to the operation for its type, or correct it.',
  },
  schema_violation: {
    status: 422,
    title: 'Schema violation',
    meaning: 'The message breaks its ISO 20022 schema; errors lists each element by XPath.',
    remedy: 'Correct the elements named in errors.',
  },
  certificate_expired: {
    status: 422,
    title: 'Certificate expired',
    meaning: 'A certificate needed for the operation is no longer valid.',
    remedy: 'Install a valid certificate.',
  },
  unauthorized: {
    status: 401,
    title: 'Unauthorized',
    meaning: 'The API key is missing, malformed, unknown, expired or revoked.',
    remedy: 'Send a valid key as Authorization: Bearer <key>.',
  },
  forbidden: {
    status: 403,
    title: 'Forbidden',
    meaning: 'The API key is valid but lacks the scope of the operation.',
    remedy: 'Use a key with the scope named in message.',
  },
  restricted: {
    status: 403,
    title: 'Restricted',
    meaning: 'The API key has the scope, but a restriction of it forbids the request.',
    remedy: 'Use a key without the restriction named in message.',
  },
  method_not_allowed: {
    status: 405,
    title: 'Method not allowed',
    meaning: 'The path exists but not with this method; the Allow header lists those it has.',
    remedy: 'Use a method from Allow.',
  },
  conflict: {
    status: 409,
    title: 'Conflict',
    meaning: 'The state of the resource does not allow the operation.',
    remedy: 'Read the resource and decide anew.',
  },
  changed_meanwhile: {
    status: 409,
    title: 'Changed meanwhile',
    meaning: 'The resource is no longer what the request says that it replaces; nothing changed.',
    remedy: 'Read the resource and decide anew.',
  },
  idempotency_in_progress: {
    status: 409,
    title: 'Request still running',
    meaning: 'A request with the same Idempotency-Key has not ended yet.',
    remedy: 'Wait and repeat the request with the same key.',
    retryable: true,
  },
  body_timeout: {
    status: 408,
    title: 'Body not in time',
    meaning:
      'The request body did not come whole in time, or not before others needed the room; nothing was begun.',
    remedy: 'Repeat the request, with the body right behind the headers.',
    retryable: true,
  },
  body_too_large: {
    status: 413,
    title: 'Body too large',
    meaning: 'The request body is over the limit named in detail.',
    remedy: 'Send a smaller body.',
  },
  unsupported_media_type: {
    status: 415,
    title: 'Unsupported media type',
    meaning: 'The operation does not take this Content-Type.',
    remedy: 'Use a Content-Type named in detail.',
  },
  idempotency_mismatch: {
    status: 422,
    title: 'Idempotency-Key used for another request',
    meaning: 'The Idempotency-Key was first used with another body or another operation.',
    remedy: 'Use a new key for a new request.',
  },
  rate_limited: {
    status: 429,
    title: 'Too many requests',
    meaning: 'The API key, or its account, has made more requests than it may.',
    remedy: 'Repeat after the seconds of Retry-After. RateLimit tells what is left.',
    retryable: true,
  },
  internal: {
    status: 500,
    title: 'Internal error',
    meaning: 'The gateway failed; the log holds the cause under request_id.',
    remedy: 'Report the request_id. Repeat only with the same Idempotency-Key.',
    retryable: true,
  },
  database_unavailable: {
    status: 503,
    title: 'Database unavailable',
    meaning:
      'The database does not answer; whether a request that changes something took effect is not known.',
    remedy: 'Repeat with the same Idempotency-Key. /health tells when the database is back.',
    retryable: true,
  },
  not_configured: {
    status: 503,
    title: 'Not configured',
    meaning: 'The operation needs a setting that is not set; detail names it.',
    remedy: 'Set it and start the gateway again.',
  },
  overloaded: {
    status: 503,
    title: 'Overloaded',
    meaning: 'As many requests of this kind run now as may; this one was not begun.',
    remedy: 'Repeat after the seconds of Retry-After.',
    retryable: true,
  },
  unavailable: {
    status: 503,
    title: 'Unavailable',
    meaning: 'Something the operation needs cannot be reached now.',
    remedy: 'Repeat later.',
    retryable: true,
  },
})

/**
 * The error of a request that breaks its published schema (400).
 *
 * @param errors at least one
 * @param whole what the message names where the first has no pointer
 */
export const invalid = (errors: readonly Violation[], whole = 'The body'): ApiError =>
  new ApiError(httpErrors.validation_failed, summaryOf(errors, whole), { errors })

/**
 * The error of a request that fits its published schema, where a value cannot be taken all the same. It is
 * as invalid (400); the code tells a client that was made from the document that it could not know.
 */
export const refusedValue = (
  errors: readonly Violation[],
  details: Readonly<Record<string, unknown>> = {},
): ApiError =>
  new ApiError(httpErrors.value_refused, summaryOf(errors, 'The request'), { errors, details })

const summaryOf = (errors: readonly Violation[], whole: string): string => {
  const [first] = errors
  const more = errors.length > 1 ? ` (and ${errors.length - 1} more)` : ''
  return `${first?.pointer || whole}: ${first?.message ?? 'is not valid'}${more}`
}
