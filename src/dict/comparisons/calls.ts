import { childrenOf, demandText, type Element, type KeyType, nodeAt, oneOf } from '#codecs/dict'
import type { XmlDocument } from '#codecs/xml'
import { createEntryByCid, type EntryByCid } from '../client.ts'
import type { Lane, Refused } from '../wire.ts'

/** An entry came into the set or left it. */
type CidEvent = { readonly isAdded: boolean; readonly cid: string }

type EventPage = {
  readonly kind: 'events'
  readonly events: readonly CidEvent[]
  readonly hasMore: boolean
  /** The moment of the last event, in the directory's own digits: the next page begins with it. */
  readonly endTime: string
  /** The check of the set after the last event. */
  readonly check: string
}

export type CidFile = {
  readonly kind: 'file'
  readonly id: number
  /** Undefined: the directory has not made the file yet. */
  readonly content:
    | { readonly url: string; readonly bytes: number; readonly sha256: string }
    | undefined
}

/** The directory says that there is no such file, and will be none. */
export class LostFileError extends Error {
  override readonly name = 'LostFileError'
}

/** Each throws DirectoryAwayError. */
export type ReconciliationCalls = {
  readonly events: (type: KeyType, startTime: string) => Promise<EventPage | Refused>
  /** @throws LostFileError, as {@link findFile} does */
  readonly requestFile: (type: KeyType) => Promise<CidFile | Refused>
  readonly findFile: (id: number) => Promise<CidFile | Refused>
  readonly entryOf: EntryByCid
}

const cidForm = /^[0-9A-Fa-f]{64}$/
const momentForm = /^[0-9T:.Z+-]{20,40}$/
const fileStatuses = ['REQUESTED', 'PROCESSING', 'AVAILABLE', 'UNAVAILABLE', 'ERROR'] as const
/** The most that the directory gives at once; we may ask twenty times a minute. */
const eventsMax = 200
const idForm = /^\d{1,15}$/

const cidAt = (document: XmlDocument, node: number, path: string): string =>
  demandText(document, node, path, cidForm).toLowerCase()

const eventsIn = (document: XmlDocument): EventPage => {
  const { root } = document
  const list = nodeAt(document, root, 'CidSetEvents')
  const nodes = list === undefined ? [] : childrenOf(document, list, 'CidSetEvent')
  return {
    kind: 'events',
    events: nodes.map((node) => ({
      isAdded: demandText(document, node, 'Type', /^(?:ADDED|REMOVED)$/) === 'ADDED',
      cid: cidAt(document, node, 'Cid'),
    })),
    hasMore: demandText(document, root, 'HasMoreElements', /^(?:true|false)$/) === 'true',
    endTime: demandText(document, root, 'EndTime', momentForm),
    check: cidAt(document, root, 'SyncVerifierEnd'),
  }
}

const fileIn = (document: XmlDocument): CidFile => {
  const { root } = document
  const status = oneOf(fileStatuses).read(document, root, 'CidSetFile/Status')
  if (status === 'UNAVAILABLE' || status === 'ERROR') {
    throw new LostFileError(`the directory says ${status} of the file`)
  }
  return {
    kind: 'file',
    id: Number(demandText(document, root, 'CidSetFile/Id', idForm)),
    content:
      status === 'AVAILABLE'
        ? {
            url: demandText(document, root, 'CidSetFile/Url', /^https?:\/\/[!-~]{1,480}$/),
            bytes: Number(demandText(document, root, 'CidSetFile/Bytes', idForm)),
            sha256: cidAt(document, root, 'CidSetFile/Sha256'),
          }
        : undefined,
  }
}

/** Source: DICT API, /cids/. */
export const createReconciliationCalls = (
  { tell, see }: Lane,
  ispb: string,
): ReconciliationCalls => ({
  events: (type, startTime) => {
    const query = new URLSearchParams({
      Participant: ispb,
      KeyType: type,
      StartTime: startTime,
      Limit: String(eventsMax),
    })
    return see('list_cid_events', { path: `/cids/events?${query}` }, eventsIn)
  },
  requestFile: (type) => {
    const body: Element = [
      'CreateCidSetFileRequest',
      [
        ['Participant', ispb],
        ['KeyType', type],
      ],
    ]
    return tell('request_cid_file', { method: 'POST', path: '/cids/files/', body }, fileIn)
  },
  findFile: (id) => see('find_cid_file', { path: `/cids/files/${id}` }, fileIn),
  entryOf: createEntryByCid({ see }),
})
