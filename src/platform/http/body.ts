import type { ZodError, ZodType } from 'zod'
import { firstCharacters, readBounded } from '../runtime/index.ts'
import { ApiError, httpErrors, invalid, refusedValue, type Violation } from './errors.ts'
import { parseJson, textOf } from './json.ts'
import { callerMsMax, createCallers } from './limits/callers.ts'
import { useOf } from './limits/work.ts'
import { acceptedBy, type Exchange, type RequestContext, type Route } from './route.ts'
import { escapeStep } from './text.ts'

export const bodyBytesMaxDefault = 8_388_608
/** The same for routes that take only JSON: they read it on the event loop, and it holds no document. */
const jsonBytesMaxDefault = 65_536

const jsonType = 'application/json'

/** The largest body that a route takes. */
export const bytesMaxOf = (route: Route): number => {
  if (route.bodyBytesMax !== undefined) return route.bodyBytesMax
  const takesJsonOnly = acceptedBy(route)?.every((type) => type === jsonType) ?? false
  return takesJsonOnly ? jsonBytesMaxDefault : bodyBytesMaxDefault
}

/** Lower case, without parameters. */
export const mediaType = (header: string): string => {
  const end = header.indexOf(';')
  return (end === -1 ? header : header.slice(0, end)).trim().toLowerCase()
}

/** Refuses a request of a route by its headers alone, before we read a byte of the body. */
export const createBodyHeadersCheck = (route: Route): ((request: Request) => void) => {
  let known:
    | { readonly bytesMax: number; readonly accepted: readonly string[] | undefined }
    | undefined
  return (request) => {
    // Made at the first request, so that a start makes no document that nobody asks for.
    known ??= { bytesMax: bytesMaxOf(route), accepted: acceptedBy(route) }
    const { bytesMax, accepted } = known
    const declared = request.headers.get('content-length')
    if (declared !== null && Number(declared) > bytesMax) throw tooLarge(bytesMax)
    if (accepted === undefined) return
    const contentType = request.headers.get('content-type')
    if (contentType === null) {
      // Without a body there is no type to name: operations with an optional body consider it absent.
      if (declared === '0' || (declared === null && request.body === null)) return
      throw unsupported(route, accepted, 'none')
    }
    if (accepted.includes(contentType)) return
    const type = mediaType(contentType)
    if (!accepted.includes(type)) throw unsupported(route, accepted, type)
    if (type === jsonType) checkCharset(contentType)
  }
}

const charsetForm = /;\s*charset\s*=\s*"?([^";]*)/i
const utf8Names: readonly string[] = ['utf-8', 'utf8', 'us-ascii']

/** RFC 8259 section 8.1: JSON is UTF-8. A proxy that reads another charset has read another request. */
const checkCharset = (contentType: string): void => {
  const charset = charsetForm.exec(contentType)?.[1]?.trim()
  if (charset === undefined || utf8Names.includes(charset.toLowerCase())) return
  const told = `JSON is UTF-8, got the charset ${charset.slice(0, 64)}.`
  throw new ApiError(httpErrors.unsupported_media_type, told)
}

const tooLarge = (bytesMax: number): ApiError =>
  new ApiError(httpErrors.body_too_large, `The body is over ${bytesMax} bytes.`, {
    headers: { Connection: 'close' },
  })

const unsupported = (route: Route, accepted: readonly string[], type: string): ApiError =>
  new ApiError(
    httpErrors.unsupported_media_type,
    `${route.method} ${route.path} takes ${accepted.join(' or ')}, got ${type.slice(0, 100)}.`,
  )

/** The coding that the body comes in; empty: as it is. */
export const contentCodingOf = ({ req }: RequestContext): string => {
  const header = req.raw.headers.get('content-encoding')
  if (header === null) return ''
  const coding = header.trim().toLowerCase()
  return coding === 'identity' ? '' : coding
}

/**
 * Reads the body's bytes; the route's limit holds even without a Content-Length.
 *
 * @throws ApiError 413, 415 for a body that is encoded
 */
export const readBytes = (c: RequestContext): Promise<Uint8Array> => {
  const coding = contentCodingOf(c)
  if (coding === '') return readEncodedBytes(c)
  const told = `The body comes without a Content-Encoding here, got ${coding.slice(0, 64)}.`
  throw new ApiError(httpErrors.unsupported_media_type, told, {
    headers: { 'Accept-Encoding': 'identity' },
  })
}

/** The same, whatever it is encoded in: the caller decodes it. */
export const readEncodedBytes = async (c: RequestContext): Promise<Uint8Array> => {
  const { raw: request } = c.req
  const whole: Promise<ArrayBuffer | Uint8Array> = request.headers.has('content-length')
    ? request.arrayBuffer()
    : readChunked(request, c.env.route)
  const read = await inTime(whole, c.env)
  const bytes = read instanceof Uint8Array ? read : new Uint8Array(read)
  c.env.body = bytes
  return bytes
}

/** For requests that need no room. */
const otherCallers = createCallers()

/**
 * Waits for the caller, as `away` does for others, but not for ever; one promise for both, since every request
 * with a body comes by here.
 *
 * @throws ApiError 408 for a body whose caller takes too long over it
 */
const inTime = <T>(body: Promise<T>, exchange: Exchange): Promise<T> =>
  new Promise((resolve, reject) => {
    const { rooms } = exchange
    const callers = rooms?.callers ?? otherCallers
    const use = useOf(exchange)
    const resume = (): void => {
      if (use !== undefined) rooms?.resume(use)
    }
    const giveUp = (): void => {
      resume()
      reject(bodyTimeout())
    }
    const waiting = { sinceMs: 0, isTimed: true, giveUp }
    if (use !== undefined) rooms?.pause(use)
    callers.begin(waiting)
    body.then(
      (whole) => {
        if (callers.end(waiting)) resume()
        resolve(whole)
      },
      (error: unknown) => {
        if (callers.end(waiting)) resume()
        reject(error)
      },
    )
  })

/** After a body that was cut short, nobody can tell its rest, so the connection is of no more use. */
const bodyTimeout = (): ApiError => {
  const told = `The body did not come whole within ${callerMsMax / 1_000} s, or others needed its room.`
  return new ApiError(httpErrors.body_timeout, told, { headers: { Connection: 'close' } })
}

const readChunked = async (request: Request, route: Route | undefined): Promise<Uint8Array> => {
  const bytesMax = route === undefined ? bodyBytesMaxDefault : bytesMaxOf(route)
  const { bytes, isWhole } = await readBounded(request.body, bytesMax)
  if (!isWhole) throw tooLarge(bytesMax)
  return bytes
}

/** The body as text; refuses bytes that are not UTF-8. */
export const readText = async (c: RequestContext): Promise<string> => textOf(await readBytes(c))

/** The body as parsed JSON. */
export const readJsonValue = async (c: RequestContext): Promise<unknown> =>
  parseJson(await readBytes(c), c.env.route?.bodyValuesMax)

/** Reads and validates the body; lists every broken rule with its JSON Pointer. */
export const readJson = async <T>(c: RequestContext, schema: ZodType<T>): Promise<T> =>
  validated(schema, await readJsonValue(c), '')

/** Validates the query parameters; refuses one that is given twice. */
export const readQuery = <T>(c: RequestContext, schema: ZodType<T>): T => {
  // Has no prototype: with one, a parameter `__proto__` would be lost instead of refused.
  const values: Record<string, string> = Object.create(null)
  for (const [name, value] of new URL(c.req.url).searchParams) {
    if (name in values) {
      throw invalid(
        [{ pointer: name, rule: 'unique', message: 'is given more than once' }],
        'The query',
      )
    }
    values[name] = value
  }
  return validated(schema, values, undefined)
}

/** Validates the parameters of the path. */
export const readParams = <T>(c: RequestContext, schema: ZodType<T>): T =>
  validated(schema, c.req.param(), undefined)

/** Validates any value; `prefix` starts the JSON Pointers, undefined makes them plain names. */
export const validated = <T>(schema: ZodType<T>, value: unknown, prefix: string | undefined): T => {
  const parsed = schema.safeParse(value)
  if (parsed.success) return parsed.data
  const violations = violationsOf(parsed.error, value, prefix)
  throw parsed.error.issues.every(isBeyondSchema)
    ? refusedValue(violations)
    : invalid(violations, prefix === undefined ? 'The query' : 'The body')
}

/** Validates `params`, which the document publishes as any object and describes elsewhere. */
export const acceptable = <T>(schema: ZodType<T>, value: unknown): T => {
  const parsed = schema.safeParse(value)
  if (parsed.success) return parsed.data
  throw refusedValue(violationsOf(parsed.error, value, '/params'))
}

/** A published schema lacks what a refinement finds, unless its `meta` says the same there. */
const isBeyondSchema = (issue: Issue): boolean =>
  issue.code === 'invalid_union'
    ? issue.errors.some((branch) => branch.length > 0 && branch.every(isBeyondSchema))
    : issue.code === 'custom' && issue.params?.['isPublished'] !== true

type Issue = ZodError['issues'][number]

const violationsMax = 100
/** We tell so many unknown members of one object: the schema says which ones there are. */
const unknownMax = 10
const messageCharactersMax = 500

const violationsOf = (
  error: ZodError,
  value: unknown,
  prefix: string | undefined,
): readonly Violation[] =>
  error.issues
    .slice(0, violationsMax)
    .flatMap((issue) => (issue.code === 'unrecognized_keys' ? unknownIn(issue) : [issue]))
    .slice(0, violationsMax)
    .map((issue) => ({
      pointer:
        prefix === undefined
          ? issue.path.map(String).join('.')
          : prefix + issue.path.map((step) => `/${escapeStep(String(step))}`).join(''),
      ...(isMissing(issue, value)
        ? { rule: 'required', message: 'is missing' }
        : { rule: ruleOf(issue), message: cut(issue.message) }),
    }))

/** Our name for a rule, wherever one is broken; the library has its own names, and one for sizes of every kind. */
const ruleOf = (issue: Issue): string => {
  switch (issue.code) {
    case 'custom':
      return String(issue.params?.['rule'] ?? issue.code)
    case 'invalid_type':
      return 'type'
    case 'invalid_value':
      return 'enum'
    case 'invalid_format':
      return 'format'
    case 'unrecognized_keys':
      return 'unknown'
    case 'invalid_union':
      return 'discriminator' in issue ? 'enum' : 'type'
    case 'too_small':
      return sizeRules[issue.origin] ?? 'minimum'
    case 'too_big':
      return sizeRules[issue.origin] ?? 'maximum'
    default:
      return issue.code
  }
}

/** Kinds of values whose size is not a number of their own. */
const sizeRules: Readonly<Record<string, string>> = {
  string: 'length',
  array: 'count',
  set: 'count',
  map: 'count',
}

/** The library names only the object with unknown members; we point at each of them. */
const unknownIn = (issue: Extract<Issue, { code: 'unrecognized_keys' }>): Issue[] =>
  issue.keys.slice(0, unknownMax).map((key) => ({
    ...issue,
    keys: [key],
    path: [...issue.path, key],
    message: `Unrecognized key: "${key}"`,
  }))

/** The library calls an absent member one of a wrong type, or a wrong choice. */
const isMissing = ({ code, path }: Issue, value: unknown): boolean =>
  code !== 'custom' &&
  path.length > 0 &&
  path.reduce<unknown>(
    (within, step) => (within as Readonly<Record<PropertyKey, unknown>> | undefined)?.[step],
    value,
  ) === undefined

const cut = (message: string): string =>
  message.length > messageCharactersMax
    ? `${firstCharacters(message, messageCharactersMax)}…`
    : message
