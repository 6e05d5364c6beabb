import { CodecError } from '#codecs/bytes'
import { demandText, readKeptEntry, textAt } from '#codecs/dict'
import type { Theirs } from './comparisons/domain.ts'
import type { Lane, Refused } from './wire.ts'

/** An entry of ours by its content identifier, those of others are not found. @throws DirectoryAwayError */
export type EntryByCid = (cid: string) => Promise<({ readonly kind: 'entry' } & Theirs) | Refused>

const requestIdForm = /^[0-9a-fA-F-]{36}$/

/** Source: DICT API, /cids/entries/. */
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
