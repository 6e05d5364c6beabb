import { createHmac } from 'node:crypto'
import { type Account, cidOf, type DirectoryEntry, type KeyType } from '#codecs/dict'
import type { EntryRow } from '../types.ts'

/** These wait for the directory, which is asked again until it answers. */
const waiting = ['registering', 'changing', 'removing'] as const
/** The key is not ours, or not any more. */
export const goneStatuses = ['removed', 'refused'] as const
export const entryStatuses = [...waiting, 'registered', ...goneStatuses] as const

export type EntryStatus = (typeof entryStatuses)[number]

export const openStatuses: ReadonlySet<EntryStatus> = new Set(waiting)

/** Owner and account, in the exact characters that the directory is given. */
export type EntryContent = {
  readonly owner: DirectoryEntry['owner']
  readonly account: Account
  /** When the account was opened, ISO 8601. */
  readonly openedAt: string
}

// Source: DICT API 2.12.1, updateEntry and deleteEntry. RECONCILIATION is for comparisons.
export const removalReasons = [
  'USER_REQUESTED',
  'ACCOUNT_CLOSURE',
  'FRAUD',
  'RFB_VALIDATION',
] as const
export const changeReasons = ['USER_REQUESTED', 'BRANCH_TRANSFER', 'RFB_VALIDATION'] as const

export type RemovalReason = (typeof removalReasons)[number]
export type ChangeReason = (typeof changeReasons)[number]

/** A random key is not changed because its owner asks. */
export const changeReasonsOf = (type: KeyType): readonly ChangeReason[] =>
  type === 'EVP' ? changeReasons.slice(1) : changeReasons

/** What the directory is asked for of an entry that it has. */
export type Wanted = (
  | { readonly content: EntryContent; readonly reason?: ChangeReason | 'RECONCILIATION' }
  | { readonly removal: RemovalReason | 'RECONCILIATION' }
  | { readonly registration: 'RECONCILIATION' }
) & { readonly mends?: Mends }

/** The difference that a wish mends: a refusal puts it back. */
export type Mends = {
  readonly comparisonId: string
  /** Our entry as it was compared; null: we had none. */
  readonly entryId: string | null
}

/** An entry of this institution in the directory. */
export type OwnEntry = Omit<EntryRow, 'content' | 'wanted'> & {
  readonly content: EntryContent
  readonly wanted: Wanted | null
}

export const hmac = (key: Uint8Array, message: Uint8Array): Uint8Array =>
  createHmac('sha256', key).update(message).digest()

/** The content identifier under which the directory has an entry. */
export const cidFor = (
  { id, keyType }: Pick<OwnEntry, 'id' | 'keyType'>,
  key: string,
  { owner, account }: EntryContent,
): string =>
  cidOf({ keyType, key, owner, account }, Uint8Array.fromHex(id.replaceAll('-', '')), hmac)

/** An entry that the directory does not have yet. */
export const newEntry = (
  entry: Pick<OwnEntry, 'id' | 'keyType' | 'key' | 'content'>,
  createdBy: string,
  createdAt: Date,
): OwnEntry => ({
  ...entry,
  createdBy,
  createdAt,
  status: 'registering',
  wanted: null,
  cid: null,
  refusal: null,
  ownedSince: null,
  version: 0,
})

/** The entry as the directory has it now. */
export const registered = (
  before: OwnEntry,
  key: string,
  content: EntryContent,
  ownedSince: string,
): OwnEntry => ({
  ...before,
  key,
  content,
  ownedSince,
  status: 'registered',
  wanted: null,
  refusal: null,
  cid: cidFor(before, key, content),
})
