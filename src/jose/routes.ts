import { ApiError, type Route, refusedValue, route } from '#src/platform/http/index.ts'
import { documents } from './documents.ts'
import { contentBytesMax } from './domain.ts'
import { JoseFailure, joseErrors } from './errors.ts'
import { readKeySet } from './key-set.ts'
import type { Keyring } from './keyring.ts'
import type { JoseService } from './service.ts'
import type { Verified } from './verify.ts'

const keysForSeconds = 300

/** The operations, loaded with the first request: most processes never need the library. */
export type LoadJose = () => Promise<{
  readonly service: JoseService
  readonly keyring: Keyring
}>

const reasons = {
  key_unknown: joseErrors.jose_key_unknown,
  purpose_not_allowed: joseErrors.jose_purpose_not_allowed,
  algorithm_not_allowed: joseErrors.jose_algorithm_not_allowed,
  malformed: joseErrors.jose_token_malformed,
  decryption_failed: joseErrors.jose_decryption_failed,
} as const satisfies Record<JoseFailure['reason'], unknown>

function refused(error: unknown): never {
  if (error instanceof JoseFailure) throw new ApiError(reasons[error.reason], error.message)
  throw error
}

const contentOf = (text: string, encoding: 'utf8' | 'base64url', pointer: string): Uint8Array => {
  const isBase64url = encoding === 'base64url'
  if (isBase64url && !/^[A-Za-z0-9_-]*$/.test(text)) {
    throw refusedValue([{ pointer, rule: 'base64url', message: 'must be base64url' }])
  }
  const content = new Uint8Array(Buffer.from(text, encoding))
  if (content.length > contentBytesMax) {
    const message = `is over ${contentBytesMax} bytes`
    throw refusedValue([{ pointer, rule: 'bytes', message, expected: contentBytesMax }])
  }
  return content
}

/** Text if the bytes are UTF-8, base64url otherwise. */
const shown = (content: Uint8Array): [string, 'utf8' | 'base64url'] => {
  try {
    return [new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(content), 'utf8']
  } catch {
    return [Buffer.from(content).toString('base64url'), 'base64url']
  }
}

const verdictOf = (result: Verified) => {
  if (!result.valid) return result
  const { valid, algorithm, header, key, content } = result
  const [payload, payload_encoding] = shown(content)
  const { kid } = key.names
  const about = { alg: algorithm, key_source: key.origin }
  return {
    valid,
    ...(kid === undefined ? {} : { kid }),
    ...about,
    payload,
    payload_encoding,
    header,
  }
}

/** The four operations (scope `jose:use`) and the public key set. */
export const joseRoutes = (load: LoadJose): readonly Route[] => [
  route(documents.sign, async ({ body }) => {
    const { kid, alg, typ, payload, payload_encoding, serialization, payload_form } = body
    const content = contentOf(payload, payload_encoding, '/payload')
    const { service } = await load()
    const form = { serialization, payloadForm: payload_form }
    const wanted = { kid, algorithm: alg, type: typ, content, ...form }
    return Response.json({ jws: await service.sign(wanted).catch(refused) })
  }),
  route(documents.verify, async ({ body, caller }) => {
    const { jws, kid, jwks, payload: given, payload_encoding: encoding } = body
    const payload = given === undefined ? undefined : contentOf(given, encoding, '/payload')
    const { service } = await load()
    const keys = jwks && (readKeySet(jwks, 'request') ?? [])
    const request = { token: jws, kid, payload, keys, account: caller.owner }
    return Response.json(verdictOf(await service.verify(request)))
  }),
  route(documents.encrypt, async ({ body }) => {
    const { kid, alg, enc, typ, plaintext, plaintext_encoding, serialization } = body
    const content = contentOf(plaintext, plaintext_encoding, '/plaintext')
    const { service } = await load()
    const algorithms = { algorithm: alg, contentAlgorithm: enc }
    const wanted = { kid, ...algorithms, type: typ, content, serialization }
    return Response.json({ jwe: await service.encrypt(wanted).catch(refused) })
  }),
  route(documents.decrypt, async ({ body: { jwe, kid: named } }) => {
    const { service } = await load()
    const { kid, algorithm, content, header } = await service
      .decrypt({ token: jwe, kid: named })
      .catch(refused)
    const [plaintext, plaintext_encoding] = shown(content)
    return Response.json({ kid, alg: algorithm, plaintext, plaintext_encoding, header })
  }),
  route(documents.keys, async () => {
    const headers = {
      'Content-Type': 'application/jwk-set+json',
      'Cache-Control': `public, max-age=${keysForSeconds}`,
    }
    return Response.json({ keys: await (await load()).keyring.publicKeys() }, { headers })
  }),
]
