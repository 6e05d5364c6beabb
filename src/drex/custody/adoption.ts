/** Takes keys that are elsewhere for wallets: nothing is believed that the key has not proved by a signature. */
import { randomBytes } from 'node:crypto'
import { ApiError } from '#src/platform/http/index.ts'
import { drexErrors } from '../errors.ts'
import type { Hex } from '../evm/hex.ts'
import { SignerError } from './exchange.ts'
import type { KeyServiceName } from './key-service.ts'
import type { Custody } from './services.ts'
import { signatureFor } from './signer.ts'
import { requireWeb3SignerKey } from './web3signer.ts'

export type WantedKey =
  | { readonly type: 'managed' }
  | { readonly type: 'external'; readonly address: Hex }
  | { readonly type: 'web3signer'; readonly address: Hex }
  | { readonly type: KeyServiceName; readonly keyName: string }

export type AdoptedKey = {
  /** Undefined for a key that the gateway makes. */
  readonly address: Hex | undefined
  readonly keyName: string | undefined
}

/** @throws ApiError `forbidden`, `not_configured`, `key_unusable` or `signer_unreachable` */
export const adoptKey = async (
  custody: Pick<Custody, 'assignments' | 'keyServices' | 'web3signer'>,
  wanted: WantedKey,
  account: string,
): Promise<AdoptedKey> => {
  if (wanted.type === 'managed') return { address: undefined, keyName: undefined }
  // Anybody may watch an address, as anybody may watch the chain.
  if (wanted.type === 'external') return { address: wanted.address, keyName: undefined }
  const { assignments } = custody
  // Check this before we ask the service, whose answers would tell strangers which keys there are.
  assignments.requireAny(account)
  if ('address' in wanted) {
    assignments.require(account, { address: wanted.address, keyName: undefined })
  }
  const key = await findKey(custody, wanted)
  assignments.require(account, key)
  return key
}

const findKey = async (
  { keyServices, web3signer }: Pick<Custody, 'keyServices' | 'web3signer'>,
  wanted: Exclude<WantedKey, { readonly type: 'managed' | 'external' }>,
): Promise<{ readonly address: Hex; readonly keyName: string | undefined }> => {
  switch (wanted.type) {
    case 'web3signer': {
      const { address } = wanted
      if (web3signer === undefined) throw notConfigured('DREX_WEB3SIGNER_URL')
      await asked(() => requireWeb3SignerKey(web3signer, address))
      return { address, keyName: undefined }
    }
    case 'aws_kms':
    case 'gcp_kms': {
      const service = keyServices.get(wanted.type)
      if (service === undefined) throw notConfigured(settings[wanted.type])
      return asked(async () => {
        const { name, address } = await service.find(wanted.keyName)
        const digest = randomBytes(32)
        const signed = await service.sign(name, digest)
        try {
          signatureFor(address, digest, signed)
        } catch {
          throw new SignerError('the service signs with another key than it tells of', false)
        }
        return { address, keyName: name }
      })
    }
  }
}

const settings: Readonly<Record<KeyServiceName, string>> = {
  aws_kms: 'DREX_AWS_REGION',
  gcp_kms: 'DREX_GCP_CREDENTIALS',
}

const notConfigured = (setting: string): ApiError =>
  new ApiError(drexErrors.custody_not_configured, `Wallets of this type need ${setting}.`, {
    details: { settings: [setting] },
  })

const asked = async <T>(work: () => Promise<T>): Promise<T> => {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof SignerError)) throw error
    const definition = error.isAway ? drexErrors.signer_unreachable : drexErrors.key_unusable
    throw new ApiError(definition, `The key cannot be used: ${error.message}.`, { cause: error })
  }
}
