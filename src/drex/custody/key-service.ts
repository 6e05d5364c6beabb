/** What all key management services do for us, each in its own words. */
import type { Hex } from '../evm/hex.ts'

export const keyServices = ['aws_kms', 'gcp_kms'] as const
export type KeyServiceName = (typeof keyServices)[number]

type FoundKey = {
  /** Names this very key for ever: an alias is turned into what it stands for now. */
  readonly name: string
  readonly address: Hex
}

export type KeyService = {
  /** @throws SignerError if there is no such key, it is of another curve, or the service does not answer */
  readonly find: (name: string) => Promise<FoundKey>
  /** @returns DER @throws SignerError */
  readonly sign: (name: string, digest: Uint8Array) => Promise<Uint8Array>
  /** Whether the service answers and knows who we are, where there is no key to ask for. @throws SignerError */
  readonly probe: () => Promise<void>
}
