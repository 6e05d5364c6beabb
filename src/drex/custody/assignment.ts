/**
 * Which account may have wallets of which keys elsewhere. Whoever runs the gateway gave it the right to sign with all of
 * them, so the accounts on it must not choose among them by themselves.
 */
import { ApiError, httpErrors } from '#src/platform/http/index.ts'
import { defaultAccount } from '#src/platform/security/index.ts'
import type { Hex } from '../evm/hex.ts'
import type { KeyServiceName } from './key-service.ts'

type ForeignKey = { readonly address: Hex; readonly keyName: string | undefined }

export type Assignments = {
  /** A key that nobody is assigned is the default account's. */
  readonly mayUse: (account: string, key: ForeignKey) => boolean
  /** @throws ApiError `forbidden` if no key of a service can be the account's */
  readonly requireAny: (account: string) => void
  /** @throws ApiError `forbidden` */
  readonly require: (
    account: string,
    type: 'external' | 'web3signer' | KeyServiceName,
    key: ForeignKey,
  ) => void
}

/** @param entries `account=key`, by the key's address or by its name at its service */
export const createAssignments = (entries: readonly string[]): Assignments => {
  const owners = new Map<string, string>()
  for (const entry of entries) {
    const split = entry.indexOf('=')
    const [account, key] = [entry.slice(0, split), canonical(entry.slice(split + 1))]
    const other = owners.get(key)
    if (other !== undefined && other !== account) {
      throw new Error(`DREX_CUSTODY_KEYS: one key is assigned to ${other} and to ${account}`)
    }
    owners.set(key, account)
  }
  const ownersOf = ({ address, keyName }: ForeignKey): readonly string[] =>
    [owners.get(address), keyName === undefined ? undefined : owners.get(keyName)].filter(
      (each) => each !== undefined,
    )
  const mayUse: Assignments['mayUse'] = (account, key) => {
    const assigned = ownersOf(key)
    return assigned.length === 0
      ? account === defaultAccount
      : assigned.every((each) => each === account)
  }
  return {
    mayUse,
    requireAny(account) {
      if (account !== defaultAccount && ![...owners.values()].includes(account)) throw refused()
    },
    require(account, type, key) {
      // Anybody may watch an address, but nobody may take the place of the wallet that it is for.
      const isFree = type === 'external' && ownersOf(key).length === 0
      if (!isFree && !mayUse(account, key)) throw refused()
    },
  }
}

const addressForm = /^0x[0-9a-f]{40}$/i

const canonical = (key: string): string => (addressForm.test(key) ? key.toLowerCase() : key)

const refused = (): ApiError =>
  new ApiError(httpErrors.forbidden, 'The key is not assigned to this account.')
