import { decodeProtectedHeader } from 'jose'
import { jsonOnce, RepeatedMemberError } from '#src/platform/http/index.ts'
import type { ExplainedField, Explanation, Inspector } from '#src/platform/lifecycle/index.ts'

/** RFC 7515, clause 7.1, and RFC 7516, clause 7.1: the header is base64url of `{"…`. */
const compact = /^\s*eyJ[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]*){2}(?:(?:\.[A-Za-z0-9_-]*){2})?\s*$/
const signedParts = 3
const linesMax = 10_000
/** The end of a longer path is told: a name may stand in every line. */
const pathCharsMax = 200

/** RFC 7519, clause 4.1, and the header of payloads behind codes of the Pix. */
const meanings: ReadonlyMap<string, string> = new Map(
  Object.entries({
    alg: 'algorithm',
    enc: 'encryption of the content',
    kid: 'key',
    jku: 'address of the key set',
    x5t: 'SHA-1 of the certificate',
    'x5t#S256': 'SHA-256 of the certificate',
    typ: 'type',
    cty: 'type of the content',
    iss: 'issuer',
    sub: 'subject',
    aud: 'audience',
    jti: 'identifier',
  }),
)
const instants: ReadonlySet<string> = new Set(['exp', 'iat', 'nbf'])

/** Explains what a token says. Whether it is true is for `POST /v1/jose/verify`. */
export const joseInspector: Inspector = {
  name: 'jose',
  summary: 'a signed or encrypted token (JWS or JWE), in its compact form',
  matches: (input) => compact.test(Buffer.from(input).toString('latin1')),
  explain: (input) => explainToken(Buffer.from(input).toString('latin1').trim()),
}

/** @throws Error if it is no token */
const explainToken = (token: string): Explanation => {
  if (!compact.test(token)) throw new Error('not a token in compact form')
  const header = headerOf(token)
  const parts = token.split('.')
  const isSigned = parts.length === signedParts
  const payload = isSigned ? contentOf(parts[1] ?? '') : undefined
  const fields: readonly ExplainedField[] = [
    { name: 'header', children: linesOf(header) },
    ...(payload === undefined ? [] : [payload.field]),
  ]
  const title = isSigned
    ? 'Signed token (JWS); its signature is not verified here'
    : 'Encrypted token (JWE); its content is not decrypted here'
  return {
    title,
    fields,
    value: { header, ...(payload === undefined ? {} : { payload: payload.value }) },
  }
}

const headerOf = (token: string): object => {
  try {
    return decodeProtectedHeader(token)
  } catch {
    throw new Error('the header of the token is no JSON object')
  }
}

type Content = { readonly field: ExplainedField; readonly value: unknown }

const contentOf = (part: string): Content => {
  if (part === '') {
    const value = 'detached: it is sent beside the token'
    return { field: { name: 'payload', value }, value: null }
  }
  const bytes = Buffer.from(part, 'base64url')
  try {
    const value = jsonOnce(bytes.toString('utf8'))
    return { field: { name: 'payload', children: linesOf(value) }, value }
  } catch (error) {
    const why = error instanceof RepeatedMemberError ? `JSON in which ${error.message}` : 'no JSON'
    const text = `${bytes.length} bytes that are ${why}`
    return { field: { name: 'payload', value: text }, value: part }
  }
}

/** One line for each member, at any depth, by its path. */
const linesOf = (value: unknown): readonly ExplainedField[] => {
  const lines: ExplainedField[] = []
  const waiting: (readonly [path: string, value: unknown])[] = [['', value]]
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const [path, one] = next
    if (typeof one === 'object' && one !== null) {
      const inner = Object.entries(one).map(
        ([name, member]) => [pathOf(path, name), member] as const,
      )
      for (let at = inner.length - 1; at >= 0; at--) waiting.push(inner[at]!)
    } else lines.push(lineOf(path, one))
    if (lines.length === linesMax) break
  }
  return lines
}

const pathOf = (outer: string, name: string): string => {
  const path = outer === '' ? name : `${outer}.${name}`
  return path.length > pathCharsMax ? `…${path.slice(1 - pathCharsMax)}` : path
}

const lineOf = (path: string, value: unknown): ExplainedField => {
  const isInstant = instants.has(path) && typeof value === 'number'
  const meaning = isInstant ? instantOf(value) : meanings.get(path)
  const line = { name: path === '' ? 'value' : path, value: String(value) }
  return meaning === undefined ? line : { ...line, meaning }
}

/** NumericDate of RFC 7519: seconds since 1970. */
const instantOf = (seconds: number): string => {
  const date = new Date(seconds * 1_000)
  return Number.isNaN(date.getTime()) ? 'no instant' : date.toISOString()
}
