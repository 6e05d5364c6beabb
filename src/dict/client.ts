import { pixKeyKind } from '#codecs/brcode'
import { CodecError } from '#codecs/bytes'
import {
  accountElement,
  demandText,
  type Element,
  type EntryRequest,
  entryElement,
  type KeptEntry,
  type KeyType,
  personElement,
  readKeptEntry,
  textAt,
} from '#codecs/dict'
import type { XmlDocument } from '#codecs/xml'
import type { Theirs } from './comparisons/domain.ts'
import { DirectoryAwayError } from './exchange.ts'
import type { Lane, Refused } from './wire.ts'

type Looked = {
  readonly kind: 'found'
  readonly entry: KeptEntry
  /** How long the directory lets us use it again; 0: not at all. */
  readonly seconds: number
}

type Kept = { readonly kind: 'kept'; readonly entry: KeptEntry }
type Removed = { readonly kind: 'removed' }
type Verified = { readonly kind: 'verified'; readonly isSame: boolean }

/** What may be changed of an entry; its key and tax id stay. */
type EntryChange = Pick<EntryRequest, 'account' | 'openedAt' | 'owner'>

/**
 * The entries of the DICT API: /entries/, /sync-verifications/ and /cids/entries/. Each throws DirectoryAwayError if
 * nothing usable came back: then nothing is known, and what was to be changed may have been.
 */
export const createDirectoryClient = ({ tell, see }: Lane, ispb: string) => ({
  entryOf: createEntryByCid({ see }),
  lookUp: ({
    key,
    payer,
    endToEndId,
  }: {
    readonly key: string
    readonly payer: string
    readonly endToEndId: string
  }) =>
    see(
      'lookup',
      {
        path: `/entries/${encodeURIComponent(key)}`,
        headers: { 'PI-PayerId': payer, 'PI-EndToEndId': endToEndId },
      },
      (document, { headers }): Looked => {
        const entry = readKeptEntry(document, document.root)
        if (entry.key !== key) {
          throw new DirectoryAwayError('document', 'the answer is about another key')
        }
        return { kind: 'found', entry, seconds: secondsOf(headers) }
      },
    ),
  /** Repeated under the same RequestId, it makes one entry. */
  create: (entry: EntryRequest, requestId: string, reason: 'USER_REQUESTED' | 'RECONCILIATION') => {
    const body: Element = [
      'CreateEntryRequest',
      [entryElement(entry), ['Reason', reason], ['RequestId', requestId]],
    ]
    return tell('create_entry', { method: 'POST', path: '/entries/', body }, keptOf(entry, ispb))
  },
  update: (key: string, { account, openedAt, owner }: EntryChange, reason: string) => {
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
  remove: (key: string, why: string) => {
    const body: Element = [
      'DeleteEntryRequest',
      [
        ['Key', key],
        ['Participant', ispb],
        ['Reason', why],
      ],
    ]
    const path = `/entries/${encodeURIComponent(key)}/delete`
    return tell(
      'delete_entry',
      { method: 'POST', path, body },
      (): Removed => ({ kind: 'removed' }),
    )
  },
  /** Compares the check (VSync) of all our entries of a type with the directory's. */
  verify: (type: KeyType, check: string) => {
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
      (document): Verified => ({ kind: 'verified', isSame: resultIn(document) === 'OK' }),
    )
  },
})

export type DirectoryClient = ReturnType<typeof createDirectoryClient>

/** Finds an entry of ours by its content identifier; those of others are not found. @throws DirectoryAwayError */
export type EntryByCid = (cid: string) => Promise<({ readonly kind: 'entry' } & Theirs) | Refused>

const requestIdForm = /^[0-9a-fA-F-]{36}$/

export const createEntryByCid =
  ({ see }: Pick<Lane, 'see'>): EntryByCid =>
  (cid) =>
    see('find_entry_by_cid', { path: `/cids/entries/${cid}` }, (document) => {
      if (textAt(document, document.root, 'Cid')?.toLowerCase() !== cid) {
        throw new CodecError('dict_document', 0, 'the entry has another Cid')
      }
      return {
        kind: 'entry',
        entry: readKeptEntry(document, document.root),
        requestId: demandText(document, document.root, 'RequestId', requestIdForm).toLowerCase(),
      }
    })

/** Reads the answer about an entry. @throws DirectoryAwayError if it is about another: nobody knows what was done */
const keptOf =
  ({ keyType, key }: Partial<Pick<EntryRequest, 'keyType' | 'key'>>, ispb: string) =>
  (document: XmlDocument): Kept => {
    const entry = readKeptEntry(document, document.root)
    const isIt =
      entry.account.participant === ispb &&
      (keyType === undefined || entry.keyType === keyType) &&
      // The directory makes random keys.
      (key === undefined ? pixKeyKind(entry.key) === 'evp' : entry.key === key)
    if (!isIt) throw new DirectoryAwayError('document', 'the answer is about another entry')
    return { kind: 'kept', entry }
  }

const secondsOf = (headers: Headers): number => {
  const text = headers.get('cache-control') ?? ''
  if (/\bno-(?:store|cache)\b/i.test(text)) return 0
  return Number(/\bmax-age=(\d{1,6})\b/i.exec(text)?.[1] ?? 0)
}

const resultIn = (document: XmlDocument): string =>
  demandText(document, document.root, 'SyncVerification/Result', /^(?:OK|NOK)$/)
