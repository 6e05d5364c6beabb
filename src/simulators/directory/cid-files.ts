/** Files of all CIDs of a participant and type of key: asked for, made some time later, fetched by their address. */
import { hash, randomUUID } from 'node:crypto'
import type { Element, KeyType } from '#codecs/dict'
import { putBounded } from '../bounded.ts'
import type { CidSet } from './cid-sets.ts'

/** The time from the request of a file until it is there, as in the directory's example. */
const madeAfterMs = 10_000
/** How many files are kept, the last ones: a file of a million CIDs has 65 megabytes. */
const madeMax = 4
const requestedMax = 1_000

type Made = {
  readonly atMs: number
  /** A name that nobody can guess. */
  readonly name: string
  readonly bytes: Buffer
}

type CidFile = {
  readonly id: number
  readonly participant: string
  readonly type: KeyType
  readonly requestedMs: number
}

export const createCidFiles = (deps: {
  readonly now: () => number
  readonly setOf: (participant: string, type: KeyType) => CidSet
  /** True: it says of a file that it could not be made. */
  readonly fails: () => boolean
  /** True: the file that is made now lacks a CID. */
  readonly losesOne: () => boolean
  /** The URL for a participant that asks under that origin. */
  readonly urlOf: (name: string, origin: string) => string
}) => {
  const { now } = deps
  const requested = new Map<number, CidFile>()
  const made = new Map<number, Made>()
  let lastId = 0

  /** Undefined: the file is not there yet, or no longer. */
  const contentOf = (file: CidFile): Made | undefined => {
    const there = made.get(file.id)
    if (there !== undefined || now() < file.requestedMs + madeAfterMs) return there
    const cids = [...deps.setOf(file.participant, file.type).cids]
    const told = deps.losesOne() ? cids.slice(1) : cids
    const bytes = Buffer.from(told.map((cid) => `${cid}\n`).join(''))
    const content = { atMs: now(), name: randomUUID(), bytes }
    putBounded(made, file.id, content, madeMax)
    return content
  }

  return {
    request: (participant: string, type: KeyType): CidFile => {
      const file = { id: ++lastId, participant, type, requestedMs: now() }
      putBounded(requested, file.id, file, requestedMax)
      return file
    },
    /** Undefined if that participant has no such file. */
    find: (id: number, participant: string): CidFile | undefined => {
      const file = requested.get(id)
      return file?.participant === participant ? file : undefined
    },
    /** The answer about a file, for a participant that asks under that origin. */
    elementOf: (file: CidFile, origin: string): Element => {
      const isLost = deps.fails()
      const content = isLost ? undefined : contentOf(file)
      const pending = isLost ? 'ERROR' : 'REQUESTED'
      return [
        'CidSetFile',
        [
          ['Id', String(file.id)],
          ['Status', content === undefined ? pending : 'AVAILABLE'],
          ['Participant', file.participant],
          ['KeyType', file.type],
          ['RequestTime', new Date(file.requestedMs).toISOString()],
          ...(content === undefined
            ? []
            : contentElements(content, deps.urlOf(content.name, origin))),
        ],
      ]
    },
    /** The bytes of the file of that name. */
    contentNamed: (name: string): Buffer | undefined =>
      [...made.values()].find((content) => content.name === name)?.bytes,
  }
}

const contentElements = ({ atMs, bytes }: Made, url: string): readonly Element[] => [
  ['CreationTime', new Date(atMs).toISOString()],
  ['Url', url],
  ['Bytes', String(bytes.length)],
  ['Sha256', hash('sha256', bytes, 'hex')],
]

export type CidFiles = ReturnType<typeof createCidFiles>
