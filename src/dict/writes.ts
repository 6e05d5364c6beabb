import { pixKeyKind } from '#codecs/brcode'
import {
  type Account,
  accountElement,
  demandText,
  type Element,
  type EntryRequest,
  entryElement,
  type KeptEntry,
  type KeyType,
  personElement,
  readKeptEntry,
} from '#codecs/dict'
import type { XmlDocument } from '#codecs/xml'
import { DirectoryAwayError } from './exchange.ts'
import type { Refused, Tell } from './wire.ts'

/** What may be changed of an entry; its key and tax id stay. */
type EntryChange = {
  readonly account: Account
  /** When the account was opened, ISO 8601. */
  readonly openedAt: string
  readonly owner: EntryRequest['owner']
}

type Kept = { readonly kind: 'kept'; readonly entry: KeptEntry }

/** What a participant does with its own entries. */
export type DirectoryWrites = {
  /** The same again under one RequestId makes one entry. @throws DirectoryAwayError: it may have been made */
  readonly create: (
    entry: EntryRequest,
    requestId: string,
    reason: 'USER_REQUESTED' | 'RECONCILIATION',
  ) => Promise<Kept | Refused>
  /** @throws DirectoryAwayError: it may have been changed */
  readonly update: (key: string, change: EntryChange, reason: string) => Promise<Kept | Refused>
  /** @throws DirectoryAwayError: it may have been taken out */
  readonly remove: (key: string, reason: string) => Promise<{ readonly kind: 'removed' } | Refused>
  /** Compares the check (VSync) of all our entries of a type with the directory's. @throws DirectoryAwayError */
  readonly verify: (
    type: KeyType,
    check: string,
  ) => Promise<{ readonly kind: 'verified'; readonly isSame: boolean } | Refused>
}

/** Reads the answer about an entry. @throws DirectoryAwayError if it is about another: nobody knows what was done */
const keptOf =
  ({ keyType, key }: Partial<Pick<EntryRequest, 'keyType' | 'key'>>, ispb: string) =>
  (document: XmlDocument): Kept => {
    const entry = readKeptEntry(document, document.root)
    const isIt =
      entry.account.participant === ispb &&
      (keyType === undefined || entry.keyType === keyType) &&
      // A random key is made there.
      (key === undefined ? pixKeyKind(entry.key) === 'evp' : entry.key === key)
    if (!isIt) throw new DirectoryAwayError('document', 'the answer is about another entry')
    return { kind: 'kept', entry }
  }

/** Source: DICT API, /entries/ and /sync-verifications/. */
export const createWrites = (tell: Tell, ispb: string): DirectoryWrites => ({
  create: (entry, requestId, reason) => {
    const body: Element = [
      'CreateEntryRequest',
      [entryElement(entry), ['Reason', reason], ['RequestId', requestId]],
    ]
    return tell('create_entry', { method: 'POST', path: '/entries/', body }, keptOf(entry, ispb))
  },
  update: (key, { account, openedAt, owner }, reason) => {
    const body: Element = [
      'UpdateEntryRequest',
      [
        ['Key', key],
        accountElement('Account', account, openedAt),
        personElement('Owner', owner),
        ['Reason', reason],
      ],
    ]
    const path = `/entries/${encodeURIComponent(key)}`
    return tell('update_entry', { method: 'PUT', path, body }, keptOf({ key }, ispb))
  },
  remove: (key, why) => {
    const body: Element = [
      'DeleteEntryRequest',
      [
        ['Key', key],
        ['Participant', ispb],
        ['Reason', why],
      ],
    ]
    const path = `/entries/${encodeURIComponent(key)}/delete`
    return tell('delete_entry', { method: 'POST', path, body }, () => ({ kind: 'removed' }))
  },
  verify: (type, check) => {
    const asked: Element = [
      'SyncVerification',
      [
        ['Participant', ispb],
        ['KeyType', type],
        ['ParticipantSyncVerifier', check],
      ],
    ]
    const body: Element = ['CreateSyncVerificationRequest', [asked]]
    return tell(
      'verify_entries',
      { method: 'POST', path: '/sync-verifications/', body },
      (document) => ({ kind: 'verified', isSame: resultIn(document) === 'OK' }),
    )
  },
})

const resultIn = (document: XmlDocument): string =>
  demandText(document, document.root, 'SyncVerification/Result', /^(?:OK|NOK)$/)
