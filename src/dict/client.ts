import { type KeptEntry, readKeptEntry } from '#codecs/dict'
import { createEntryByCid, type EntryByCid } from './by-cid.ts'
import { DirectoryAwayError } from './exchange.ts'
import type { Lane, Refused } from './wire.ts'
import { createWrites, type DirectoryWrites } from './writes.ts'

type Looked =
  | {
      readonly kind: 'found'
      readonly entry: KeptEntry
      /** How long the directory says that it holds; 0: it is not to be used again. */
      readonly seconds: number
    }
  | Refused

export type DirectoryClient = DirectoryWrites & {
  /** @throws DirectoryAwayError if nothing usable came back: then nothing is known of the key */
  readonly lookUp: (asked: {
    readonly key: string
    readonly payer: string
    readonly endToEndId: string
  }) => Promise<Looked>
  readonly entryOf: EntryByCid
}

/** The entries of the DICT API. */
export const createDirectoryClient = ({ tell, see }: Lane, ispb: string): DirectoryClient => ({
  ...createWrites(tell, ispb),
  entryOf: createEntryByCid({ see }),
  lookUp: ({ key, payer, endToEndId }) =>
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
})

const secondsOf = (headers: Headers): number => {
  const text = headers.get('cache-control') ?? ''
  if (/\bno-(?:store|cache)\b/i.test(text)) return 0
  return Number(/\bmax-age=(\d{1,6})\b/i.exec(text)?.[1] ?? 0)
}
