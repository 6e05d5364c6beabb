/** AWS Key Management Service: keys of the kind `ECC_SECG_P256K1` for `SIGN_VERIFY`. */
import type { AwsCredentialSource } from './aws-credentials.ts'
import { signAwsRequest } from './aws-signature.ts'
import { base64Field, type Exchange, jsonObject, SignerError } from './exchange.ts'
import type { KeyService } from './key-service.ts'
import { addressOfSpki } from './public-key.ts'

export type AwsKmsOptions = {
  readonly exchange: Exchange
  readonly url: string
  readonly region: string
  readonly credentials: AwsCredentialSource
  readonly now?: () => Date
}

type Answer = Readonly<Record<string, unknown>>

/** Errors that pass by themselves; every other is a refusal. */
const transient: ReadonlySet<string> = new Set([
  ...['KeyUnavailableException', 'DependencyTimeoutException', 'KMSInternalException'],
  ...['ThrottlingException', 'LimitExceededException', 'ServiceUnavailableException'],
  ...['ExpiredTokenException', 'RequestExpired'],
])
/** The service knows us, and says no to this: as good an answer as any where nothing is asked for. */
const known: ReadonlySet<string> = new Set(['AccessDeniedException', 'NotFoundException'])

class AwsError extends SignerError {
  readonly code: string

  constructor(operation: string, status: number, code: string) {
    super(`AWS KMS refuses ${operation}: ${code}`, status >= 500 || transient.has(code))
    this.code = code
  }
}

export const createAwsKms = (options: AwsKmsOptions): KeyService => {
  const url = new URL(options.url)
  const now = options.now ?? (() => new Date())

  const call = async (operation: string, input: object): Promise<Answer> => {
    const body = JSON.stringify(input)
    const headers = signAwsRequest(
      {
        url,
        region: options.region,
        service: 'kms',
        body,
        headers: {
          'content-type': 'application/x-amz-json-1.1',
          'x-amz-target': `TrentService.${operation}`,
        },
      },
      await options.credentials(),
      now(),
    )
    const { status, text } = await options.exchange({
      method: 'POST',
      url: `${url.origin}/`,
      headers,
      body,
    })
    if (status === 200) return jsonObject(text)
    throw new AwsError(operation, status, errorCode(text))
  }

  return {
    async find(name) {
      const answer = await call('GetPublicKey', { KeyId: name })
      const { KeyId: id, KeySpec: spec, KeyUsage: usage } = answer
      if (spec !== 'ECC_SECG_P256K1' || usage !== 'SIGN_VERIFY' || typeof id !== 'string') {
        throw new SignerError('the key is not an ECC_SECG_P256K1 key for SIGN_VERIFY', false)
      }
      return { name: id, address: addressOfSpki(base64Field(answer, 'PublicKey')) }
    },
    async sign(name, digest) {
      // Without DIGEST the service would hash what is a hash already: a valid signature of something else.
      const answer = await call('Sign', {
        KeyId: name,
        Message: Buffer.from(digest).toString('base64'),
        MessageType: 'DIGEST',
        SigningAlgorithm: 'ECDSA_SHA_256',
      })
      return base64Field(answer, 'Signature')
    },
    async probe() {
      try {
        await call('DescribeKey', { KeyId: 'alias/trilho-doctor' })
      } catch (error) {
        if (!(error instanceof AwsError && known.has(error.code))) throw error
      }
    },
  }
}

/** `__type` may carry a namespace: `com.amazonaws.kms#NotFoundException`. */
const errorCode = (text: string): string => {
  try {
    const type = String(jsonObject(text)['__type'])
    return /(?:^|#)([A-Za-z]{1,80})$/.exec(type)?.[1] ?? 'unknown error'
  } catch {
    return 'unknown error'
  }
}
