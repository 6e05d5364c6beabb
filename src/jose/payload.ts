import type { X509Certificate } from 'node:crypto'
import { parseJson } from '#src/platform/http/index.ts'
import type { VerificationFailure } from './errors.ts'
import type { KeyOrigin } from './names.ts'
import { readJws } from './open.ts'
import type { JoseService } from './service.ts'

/** Why the payload behind a QR code is not to be trusted. */
type PayloadFailure =
  | VerificationFailure
  | 'payload_not_json'
  | 'certificate_expired'
  | 'certificate_chain_broken'

/**
 * The content of a signed payload, and whether it may be trusted.
 *
 * @property payload - the JSON value, even of a token that does not hold, to look at; undefined if it is none
 */
type OpenedPayload = {
  readonly failure: PayloadFailure | undefined
  readonly message: string | undefined
  readonly header: Readonly<Record<string, unknown>> | undefined
  readonly payload: unknown
  readonly key:
    | {
        readonly kid: string | undefined
        readonly algorithm: string
        readonly origin: KeyOrigin
        /** The key's certificate; undefined if the key set has none. */
        readonly certificate: X509Certificate | undefined
      }
    | undefined
}

/** Verifies a token that was read at `location`: key sets of the same site are trusted for it. */
export type OpenPayload = (
  token: string,
  location: string,
  account: string,
) => Promise<OpenedPayload>

/** The address of the token's key set, if it lies where the token itself lay: same scheme, host and port. */
const onSameSite = (jku: unknown, location: string): string | undefined => {
  if (typeof jku !== 'string' || !URL.canParse(jku)) return undefined
  const url = new URL(jku)
  const isSame = url.origin === new URL(location).origin && url.username === ''
  return isSame && url.password === '' && url.hash === '' ? url.href : undefined
}

const jsonOf = (encoded: string): unknown => {
  try {
    return parseJson(Uint8Array.fromBase64(encoded, { alphabet: 'base64url' }))
  } catch {
    return undefined
  }
}

/** Checks that each certificate is signed by the one after it, and that the key's own is valid now. */
const chainFailure = (chain: readonly X509Certificate[]): PayloadFailure | undefined => {
  const now = new Date()
  const [own] = chain
  if (own === undefined) return undefined
  if (now > new Date(own.validTo) || now < new Date(own.validFrom)) return 'certificate_expired'
  const isWhole = chain.every((certificate, at) => {
    const issuer = chain[at + 1]
    if (issuer === undefined) return true
    return issuer.ca && certificate.checkIssued(issuer) && certificate.verify(issuer.publicKey)
  })
  return isWhole ? undefined : 'certificate_chain_broken'
}

export const openPayload = async (
  verify: JoseService['verify'],
  token: string,
  location: string,
  account: string,
): Promise<OpenedPayload> => {
  const read = readJws(token)
  const payload = read === undefined ? undefined : jsonOf(String(read.token.payload))
  const shown = { header: read?.header, payload }
  const jku = onSameSite(read?.header['jku'], location)
  const result = await verify({ token, trustedJku: jku, account })
  if (!result.valid) {
    return { ...shown, failure: result.reason, message: result.message, key: undefined }
  }
  const { key, algorithm } = result
  const failure =
    chainFailure(key.chain) ?? (payload === undefined ? 'payload_not_json' : undefined)
  const [certificate] = key.chain
  const about = { kid: key.names.kid, algorithm, origin: key.origin, certificate }
  return { ...shown, failure, message: undefined, key: about }
}
