import { type Caller, restrictedBy } from '#src/platform/http/index.ts'
import type { Hex } from '../evm/hex.ts'

/** What of a caller decides which wallets are its own. */
export type WalletRights = Pick<Caller, 'owner' | 'keyId' | 'environment' | 'restrictions'>

/** @throws ApiError `restricted` if the key is for other wallets than each of these */
export const requireWallet = ({ restrictions: { wallets } }: WalletRights, ...any: Hex[]): void => {
  if (wallets === undefined || any.some((address) => wallets.has(address))) return
  throw restrictedBy('wallets', 'the use of this wallet')
}

/** The wallets that a list is cut down to; undefined: all of the account. */
export const walletsOf = ({ restrictions: { wallets } }: WalletRights): string[] | undefined =>
  wallets && [...wallets]
