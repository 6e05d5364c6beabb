/** Google Cloud Key Management Service: versions of keys for `EC_SIGN_SECP256K1_SHA256`. */
import { crc32c } from './crc32c.ts'
import { base64Field, type Exchange, jsonObject, SignerError } from './exchange.ts'
import type { GcpTokenSource } from './gcp-credentials.ts'
import type { KeyService } from './key-service.ts'
import { addressOfPem } from './public-key.ts'

export type GcpKmsOptions = {
  readonly exchange: Exchange
  /** Without a path. */
  readonly url: string
  readonly token: GcpTokenSource
}

type Answer = Readonly<Record<string, unknown>>

const part = '[A-Za-z0-9_.:-]{1,63}'
/** A version, and not a key: a key's primary version changes. */
const gcpKeyForm = new RegExp(
  `^projects/${part}/locations/${part}/keyRings/${part}/cryptoKeys/${part}/cryptoKeyVersions/[1-9][0-9]{0,9}$`,
)

const unauthorised: ReadonlySet<number> = new Set([401, 429])

export const createGcpKms = ({ exchange, url, token }: GcpKmsOptions): KeyService => {
  const ask = async (path: string, body?: object): Promise<Answer> => {
    const { status, text } = await exchange({
      method: body === undefined ? 'GET' : 'POST',
      url: `${url}/v1/${path}`,
      headers: {
        authorization: `Bearer ${await token()}`,
        accept: 'application/json',
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    if (status === 200) return jsonObject(text)
    const isAway = status >= 500 || unauthorised.has(status)
    throw new SignerError(`Google Cloud KMS answers HTTP ${status}`, isAway)
  }

  return {
    async find(name) {
      if (!gcpKeyForm.test(name)) {
        throw new SignerError('the name is not that of a key version', false)
      }
      const answer = await ask(`${name}/publicKey`)
      const { pem, algorithm, name: told } = answer
      if (algorithm !== 'EC_SIGN_SECP256K1_SHA256' || typeof pem !== 'string' || told !== name) {
        throw new SignerError('the key is not for EC_SIGN_SECP256K1_SHA256', false)
      }
      requireChecksum(answer, 'pemCrc32c', Buffer.from(pem))
      return { name, address: addressOfPem(pem) }
    },
    async sign(name, digest) {
      const answer = await ask(`${name}:asymmetricSign`, {
        digest: { sha256: Buffer.from(digest).toString('base64') },
        digestCrc32c: String(crc32c(digest)),
      })
      const signature = base64Field(answer, 'signature')
      if (answer['verifiedDigestCrc32c'] !== true || answer['name'] !== name) {
        throw new SignerError('Google Cloud KMS signed something else, or with another key', true)
      }
      requireChecksum(answer, 'signatureCrc32c', signature)
      return signature
    },
    async probe() {
      // A token is what we are known by; without a key there is nothing to ask the service itself for.
      await token()
    },
  }
}

/** A 64-bit integer is text in JSON. */
const requireChecksum = (answer: Answer, field: string, bytes: Uint8Array): void => {
  if (String(answer[field]) === String(crc32c(bytes))) return
  throw new SignerError(`the answer’s ${field} is not that of its bytes`, true)
}
