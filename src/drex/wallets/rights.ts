import { ApiError, type Caller, restrictedBy } from '#src/platform/http/index.ts'
import { networksFor } from '../chains.ts'
import type { NetworkId } from '../config.ts'
import { drexErrors } from '../errors.ts'
import type { Hex } from '../evm/hex.ts'
import { limitsMoney } from './policy.ts'
import type { Wallet } from './store.ts'

/** The parts of a caller that decide which wallets are its own. */
export type WalletRights = Pick<Caller, 'owner' | 'keyId' | 'environment' | 'restrictions'>

/** Whether the key is for this wallet. */
export const isWalletOf = ({ restrictions: { wallets } }: WalletRights, address: Hex): boolean =>
  wallets?.has(address) !== false

/** @throws ApiError `restricted` if the key is for other wallets than each of these */
export const requireWallet = (by: WalletRights, ...any: Hex[]): void => {
  if (by.restrictions.wallets === undefined) return
  if (any.some((address) => isWalletOf(by, address))) return
  throw restrictedBy('wallets', 'the use of this wallet')
}

/** @throws ApiError `restricted` if the key is for some wallets */
export const requireAllWallets = ({ restrictions }: WalletRights, what: string): void => {
  if (restrictions.wallets !== undefined) throw restrictedBy('wallets', what)
}

/** The wallets that a list is cut down to; undefined: all of the account. */
export const walletsOf = ({ restrictions: { wallets } }: WalletRights): string[] | undefined =>
  wallets && [...wallets]

/** The part of what an account has on the networks that somebody may see. */
export type Visible = {
  readonly account: string
  readonly networks: readonly NetworkId[]
  /** Only what is of one of these; undefined: all. */
  readonly wallets?: string[] | undefined
}

export const scopeOf = ({ owner, environment }: WalletRights): Visible => ({
  account: owner,
  networks: networksFor(environment),
})

/** What the caller may see: nothing of wallets that its key is not for. */
export const visibleTo = (rights: WalletRights): Visible => ({
  ...scopeOf(rights),
  wallets: walletsOf(rights),
})

/** @throws ApiError `policy_refused` if the wallet's policy limits what it moves */
export const requireUnlimited = ({ address, policy }: Wallet): void => {
  if (!limitsMoney(policy)) return
  throw new ApiError(
    drexErrors.policy_refused,
    'The wallet’s policy limits what it moves: it moves money by transfers alone.',
    { details: { rule: 'contracts', wallet: address } },
  )
}
