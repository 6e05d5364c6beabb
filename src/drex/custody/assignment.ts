/**
 * Which account may have wallets of which keys elsewhere. Whoever runs the gateway gave it the right to sign with all of
 * them, so the accounts on it must not choose among them by themselves.
 */
import { ApiError, httpErrors } from '#src/platform/http/index.ts'
import { defaultAccount } from '#src/platform/security/index.ts'
import type { Hex } from '../evm/hex.ts'

type ForeignKey = { readonly address: Hex; readonly keyName: string | undefined }

/** @param entries `account=key`, by the key's address or by its name at its service */
export const createAssignments = (entries: readonly string[]) => {
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
  /** A key that nobody is assigned is the default account's. */
  const mayUse = (account: string, key: ForeignKey): boolean => {
    const assigned = ownersOf(key)
    return assigned.length === 0
      ? account === defaultAccount
      : assigned.every((each) => each === account)
  }
  return {
    mayUse,
    /** @throws ApiError `forbidden` if no key of a service can be the account's */
    requireAny(account: string): void {
      if (account !== defaultAccount && ![...owners.values()].includes(account)) throw refused()
    },
    /** @throws ApiError `forbidden` */
    require(account: string, key: ForeignKey): void {
      if (!mayUse(account, key)) throw refused()
    },
  }
}

export type Assignments = ReturnType<typeof createAssignments>

const addressForm = /^0x[0-9a-f]{40}$/i

const canonical = (key: string): string => (addressForm.test(key) ? key.toLowerCase() : key)

const refused = (): ApiError =>
  new ApiError(httpErrors.forbidden, 'The key is not assigned to this account.')
