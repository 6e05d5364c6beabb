/** Access tokens for Google Cloud: of the machine, from its metadata server, or of a service account, from its file. */
import { createPrivateKey, sign } from 'node:crypto'
import { z } from 'zod'
import { type Exchange, jsonObject, SignerError } from './exchange.ts'

export type GcpTokenSource = () => Promise<string>

const scope = 'https://www.googleapis.com/auth/cloudkms'
const assertionSeconds = 3_600
/** We renew it so long before it ends, so that no request runs with an ended one. */
const marginMs = 60_000

const accountFile = z.object({
  type: z.literal('service_account'),
  client_email: z.string().min(1),
  private_key_id: z.string().min(1),
  private_key: z.string().includes('PRIVATE KEY'),
  token_uri: z.url({ protocol: /^https?$/ }),
})

export type ServiceAccount = z.output<typeof accountFile>

/** @throws Error that quotes nothing of the file */
export const readServiceAccount = (json: string): ServiceAccount => {
  let value: unknown
  try {
    value = JSON.parse(json)
  } catch {
    throw new Error('DREX_GCP_CREDENTIALS: the file is not JSON')
  }
  const { success, data } = accountFile.safeParse(value)
  if (success) return data
  throw new Error('DREX_GCP_CREDENTIALS: the file is not the key of a service account')
}

/** @param url of the metadata server, without a path */
export const metadataTokens = (exchange: Exchange, url: string): GcpTokenSource =>
  kept(() =>
    exchange({
      method: 'GET',
      url: `${url}/computeMetadata/v1/instance/service-accounts/default/token`,
      headers: { 'metadata-flavor': 'Google' },
    }),
  )

/** Exchanges an assertion signed with the account's key (RFC 7523). */
export const serviceAccountTokens = (
  exchange: Exchange,
  account: ServiceAccount,
  now: () => number = Date.now,
  tickMs?: () => number,
): GcpTokenSource =>
  kept(
    () =>
      exchange({
        method: 'POST',
        url: account.token_uri,
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
        body: new URLSearchParams({
          grant_type: 'urn:ietf:params:oauth:grant-type:jwt-bearer',
          assertion: assertionOf(account, Math.floor(now() / 1000)),
        }).toString(),
      }),
    tickMs,
  )

const assertionOf = (account: ServiceAccount, issuedAt: number): string => {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
  const head = part({ alg: 'RS256', typ: 'JWT', kid: account.private_key_id })
  const claims = part({
    iss: account.client_email,
    scope,
    aud: account.token_uri,
    iat: issuedAt,
    exp: issuedAt + assertionSeconds,
  })
  const signed = sign(
    'sha256',
    Buffer.from(`${head}.${claims}`),
    createPrivateKey(account.private_key),
  )
  return `${head}.${claims}.${signed.toString('base64url')}`
}

/** Both sources answer alike: `access_token`, and `expires_in` seconds. */
const kept = (
  ask: () => ReturnType<Exchange>,
  tickMs: () => number = () => performance.now(),
): GcpTokenSource => {
  let last: { readonly token: string; readonly untilMs: number } | undefined
  return async () => {
    if (last !== undefined && tickMs() < last.untilMs) return last.token
    const { status, text } = await ask()
    if (status !== 200) throw new SignerError(`no Google access token: HTTP ${status}`, true)
    const { access_token: token, expires_in: seconds } = jsonObject(text)
    if (typeof token !== 'string' || typeof seconds !== 'number' || !/^[\x21-\x7e]+$/.test(token)) {
      throw new SignerError('no Google access token: the answer has another form', true)
    }
    last = { token, untilMs: tickMs() + seconds * 1000 - marginMs }
    return token
  }
}
