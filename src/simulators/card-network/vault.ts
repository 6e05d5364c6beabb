import { testTokens } from './behaviour.ts'

/** YYMM of all test cards. */
const testExpiry = '4912'
/** The key of the simulators' test vault. */
export const testVaultKey = 'test-vault-key'

const bodyBytesMax = 1_024

export type TestVaultOptions = {
  readonly host?: string
  /** 0: a free one. */
  readonly port?: number
  /** What callers must say as `Authorization: Bearer …`. */
  readonly key: string
}

export type TestVault = {
  /** Without `/resolve`. */
  readonly url: string
  readonly stop: () => Promise<void>
}

const problem = (status: number, code: string): Response =>
  Response.json({ error: { code } }, { status })

const tokenOf = async (request: Request): Promise<string | undefined> => {
  const text = await request.text()
  if (text.length > bodyBytesMax) return undefined
  try {
    const body: unknown = JSON.parse(text)
    if (typeof body !== 'object' || body === null || !('token' in body)) return undefined
    return typeof body.token === 'string' ? body.token : undefined
  } catch {
    return undefined
  }
}

/**
 * A token vault with test cards: `POST /resolve` with `{"token":"…"}` gives the card number as the bytes of
 * its ASCII digits (`application/octet-stream`); 401 without the key, 404 for an unknown token, 400 otherwise.
 */
export const createTestVault = (options: TestVaultOptions): TestVault => {
  const server = Bun.serve({
    hostname: options.host ?? '127.0.0.1',
    port: options.port ?? 0,
    maxRequestBodySize: bodyBytesMax,
    fetch: async (request) => {
      if (new URL(request.url).pathname !== '/resolve') return problem(404, 'NOT_FOUND')
      if (request.method !== 'POST') return problem(405, 'METHOD_NOT_ALLOWED')
      if (request.headers.get('authorization') !== `Bearer ${options.key}`) {
        return problem(401, 'UNAUTHORIZED')
      }
      const token = await tokenOf(request)
      if (token === undefined) return problem(400, 'INVALID_REQUEST')
      const pan = testTokens.get(token)
      if (pan === undefined) return problem(404, 'TOKEN_NOT_FOUND')
      return new Response(pan.slice(), {
        headers: {
          'content-type': 'application/octet-stream',
          'cache-control': 'no-store',
          'card-expiry': testExpiry,
        },
      })
    },
  })
  return {
    url: `http://${server.hostname}:${server.port}`,
    stop: () => server.stop(true),
  }
}
