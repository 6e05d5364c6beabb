import { jsonOnce } from '#src/platform/http/index.ts'
import { neverIdle, urlHost } from '../counterparty.ts'
import { testTokens } from './behaviour.ts'

/** YYMM of all test cards. */
const testExpiry = '4912'
/** The key of the simulators' test vault. */
export const testVaultKey = 'test-vault-key'

const bodyBytesMax = 16_384
const tokensMax = 100

export type TestVaultOptions = {
  readonly host?: string
  /** 0: a free one. */
  readonly port?: number
  /** The key that callers must send as `Authorization: Bearer …`. */
  readonly key: string
}

export type TestVault = {
  /** Without `/resolve`. */
  readonly url: string
  readonly stop: () => Promise<void>
}

const problem = (status: number, code: string): Response =>
  Response.json({ error: { code } }, { status })

const bodyOf = async (request: Request): Promise<object> => {
  try {
    const body = jsonOnce(await request.text())
    return typeof body === 'object' && body !== null ? body : {}
  } catch {
    return {}
  }
}

const bytesAre = {
  'content-type': 'application/octet-stream',
  'cache-control': 'no-store',
}

const answerOne = (body: object): Response => {
  const token = 'token' in body ? body.token : undefined
  if (typeof token !== 'string') return problem(400, 'INVALID_REQUEST')
  const pan = testTokens.get(token)
  if (pan === undefined) return problem(404, 'TOKEN_NOT_FOUND')
  return new Response(pan.slice(), {
    headers: { ...bytesAre, 'card-expiry': testExpiry, 'card-tokens-max': String(tokensMax) },
  })
}

const answerMany = (body: object): Response => {
  const tokens: unknown = 'tokens' in body ? body.tokens : undefined
  if (!Array.isArray(tokens) || tokens.length > tokensMax) return problem(400, 'INVALID_REQUEST')
  const lines = tokens.map((token) => {
    const pan = testTokens.get(token)
    return pan === undefined ? '\n' : `${new TextDecoder().decode(pan)};${testExpiry}\n`
  })
  return new Response(lines.join(''), { headers: bytesAre })
}

const answers: Readonly<Record<string, (body: object) => Response>> = {
  '/resolve': answerOne,
  '/resolve-many': answerMany,
}

/**
 * A token vault with test cards: `POST /resolve` with `{"token":"…"}` gives the card number as the bytes of
 * its ASCII digits (`application/octet-stream`); 401 without the key, 404 for an unknown token, 400 otherwise.
 * `POST /resolve-many` with `{"tokens":["…"]}` gives a line for each of a hundred at most.
 */
export const createTestVault = (options: TestVaultOptions): TestVault => {
  const hostname = options.host ?? '127.0.0.1'
  const server = Bun.serve({
    idleTimeout: neverIdle,
    hostname,
    port: options.port ?? 0,
    maxRequestBodySize: bodyBytesMax,
    fetch: async (request) => {
      const answer = answers[new URL(request.url).pathname]
      if (answer === undefined) return problem(404, 'NOT_FOUND')
      if (request.method !== 'POST') return problem(405, 'METHOD_NOT_ALLOWED')
      if (request.headers.get('authorization') !== `Bearer ${options.key}`) {
        return problem(401, 'UNAUTHORIZED')
      }
      return answer(await bodyOf(request))
    },
  })
  return {
    url: `http://${urlHost(hostname)}:${server.port}`,
    stop: () => server.stop(true),
  }
}
