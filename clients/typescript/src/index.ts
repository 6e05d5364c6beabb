import type { paths } from './schema.js'

export type { components, operations, paths } from './schema.js'

type Method = 'delete' | 'get' | 'patch' | 'post' | 'put'

/** The paths that have an operation of the method. */
export type PathOf<M extends Method> = {
  [P in keyof paths]: paths[P] extends Record<M, { responses: unknown }> ? P : never
}[keyof paths]

type OperationOf<M extends Method, P extends PathOf<M>> = paths[P][M & keyof paths[P]]

type JsonOf<T> = T extends { content: { 'application/json': infer B } } ? B : undefined

/** What an operation takes as JSON. */
export type BodyOf<M extends Method, P extends PathOf<M>> =
  OperationOf<M, P> extends { requestBody?: infer B } ? JsonOf<NonNullable<B>> : undefined

/** What an operation answers when it succeeds. */
export type AnswerOf<M extends Method, P extends PathOf<M>> =
  OperationOf<M, P> extends { responses: infer R }
    ? { [S in keyof R & (200 | 201 | 202)]: JsonOf<R[S]> }[keyof R & (200 | 201 | 202)]
    : undefined

type ParametersOf<M extends Method, P extends PathOf<M>, Place extends 'path' | 'query'> =
  OperationOf<M, P> extends { parameters: { [K in Place]?: infer T } } ? NonNullable<T> : never

export type Call<M extends Method, P extends PathOf<M>> = {
  readonly body?: BodyOf<M, P>
  readonly path?: ParametersOf<M, P, 'path'>
  readonly query?: ParametersOf<M, P, 'query'>
  /** The same for every repetition of one request. Whoever gets no answer repeats it, and pays once. */
  readonly idempotencyKey?: string
  readonly signal?: AbortSignal
}

export type ClientOptions = {
  /** Of the gateway: `https://gateway.example`. */
  readonly url: string
  readonly key: string
  readonly fetch?: typeof fetch
}

/** The gateway refused a request. Without an answer, `fetch` throws its own error, and the outcome is unknown. */
export class TrilhoError extends Error {
  override readonly name = 'TrilhoError'
  constructor(
    readonly status: number,
    /** Stable: the catalogue at `/v1/errors` explains it. */
    readonly code: string,
    readonly requestId: string | null,
    /** The whole answer, read as JSON where it is. */
    readonly answer: unknown,
  ) {
    super(`${status} ${code}`)
  }
}

export type Client = {
  /** @throws TrilhoError when the answer is none of success */
  readonly call: <M extends Method, P extends PathOf<M>>(
    method: M,
    path: P,
    call?: Call<M, P>,
  ) => Promise<AnswerOf<M, P>>
}

/** Calls a gateway. It repeats nothing by itself. */
export const createClient = ({ url, key, fetch: send = fetch }: ClientOptions): Client => ({
  call: async (method, path, { body, path: places, query, idempotencyKey, signal } = {}) => {
    const filled = String(path).replace(/\{(\w+)\}/g, (_all, name: string) => {
      const value = (places as Readonly<Record<string, unknown>> | undefined)?.[name]
      if (value === undefined) throw new TypeError(`${String(path)}: no ${name}`)
      return encodeURIComponent(String(value))
    })
    const target = new URL(url.replace(/\/+$/, '') + filled)
    for (const [name, value] of Object.entries(query ?? {})) {
      if (value !== undefined) target.searchParams.append(name, String(value))
    }
    const headers = new Headers({ Authorization: `Bearer ${key}` })
    if (body !== undefined) headers.set('Content-Type', 'application/json')
    if (idempotencyKey !== undefined) headers.set('Idempotency-Key', idempotencyKey)
    const response = await send(target, {
      method: method.toUpperCase(),
      headers,
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      ...(signal === undefined ? {} : { signal }),
    })
    const answer = read(await response.text())
    if (!response.ok) {
      const requestId = response.headers.get('X-Request-Id')
      throw new TrilhoError(response.status, codeOf(answer), requestId, answer)
    }
    return answer as never
  },
})

const read = (text: string): unknown => {
  if (text === '') return undefined
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

/** Problem details have it at the top, the answers of cards and digital currency within `error`. */
const codeOf = (answer: unknown): string => {
  const problem = answer as { code?: unknown; error?: { code?: unknown } } | undefined
  const code = problem?.code ?? problem?.error?.code
  return typeof code === 'string' ? code : 'unknown'
}
