/** The contents of a participant's keys of one type: a set, its check, and its events. */
import { createVsync, type KeyType } from '#codecs/dict'

/** @property atUs - microseconds since the epoch: no two events of a set have the same */
export type CidEvent = { readonly isAdded: boolean; readonly cid: string; readonly atUs: number }

type CidEvents = {
  readonly events: readonly CidEvent[]
  /** More events lie within the requested time. */
  readonly hasMore: boolean
  /** The check after the first one, and after the last one. */
  readonly start: string
  readonly end: string
}

/** Events that share a kept check; of a set the last four million events are kept. */
const chunkEvents = 1_024
const chunksMax = 4_096

type Chunk = { readonly before: string; readonly events: CidEvent[] }

function* eventsOf(chunks: readonly Chunk[], first: number): Generator<CidEvent> {
  for (let i = first; i < chunks.length; i++) yield* chunks[i]?.events ?? []
}

const createCidSet = (now: () => number) => {
  const cids = new Set<string>()
  const check = createVsync()
  const chunks: Chunk[] = []
  let lastUs = 0

  const change = (cid: string, isAdded: boolean): void => {
    let chunk = chunks.at(-1)
    if (chunk === undefined || chunk.events.length >= chunkEvents) {
      chunk = { before: check.hex(), events: [] }
      chunks.push(chunk)
      if (chunks.length > chunksMax) chunks.shift()
    }
    lastUs = Math.max(now() * 1_000, lastUs + 1)
    chunk.events.push({ isAdded, cid, atUs: lastUs })
    check.toggle(cid)
  }

  return {
    cids: cids as ReadonlySet<string>,
    /** 64 hexadecimal digits. */
    hex: check.hex,
    add: (cid: string): void => {
      change(cid, true)
      cids.add(cid)
    },
    remove: (cid: string): void => {
      change(cid, false)
      cids.delete(cid)
    },
    /** Events from one moment to another, both included, at most `max` of them. */
    list: (fromUs: number, untilUs: number, max: number): CidEvents => {
      const first = chunks.findIndex((chunk) => (chunk.events.at(-1)?.atUs ?? 0) >= fromUs)
      const at = createVsync(chunks[first]?.before ?? check.hex())
      const events: CidEvent[] = []
      let start: string | undefined
      let hasMore = false
      for (const event of first < 0 ? [] : eventsOf(chunks, first)) {
        hasMore = event.atUs <= untilUs && events.length === max
        if (event.atUs > untilUs || hasMore) break
        at.toggle(event.cid)
        if (event.atUs < fromUs) continue
        events.push(event)
        start ??= at.hex()
      }
      return { events, hasMore, start: start ?? at.hex(), end: at.hex() }
    },
  }
}

export type CidSet = ReturnType<typeof createCidSet>

/** The set of each participant and type of key. */
export const createCidSets = (now: () => number) => {
  const sets = new Map<string, CidSet>()
  const nameOf = (participant: string, type: KeyType): string => `${participant} ${type}`
  /** For reading: does not keep an empty set. */
  const find = (participant: string, type: KeyType): CidSet =>
    sets.get(nameOf(participant, type)) ?? createCidSet(now)
  return {
    find,
    /** For changes: keeps the set. */
    open: (participant: string, type: KeyType): CidSet => {
      const set = find(participant, type)
      sets.set(nameOf(participant, type), set)
      return set
    },
  }
}
