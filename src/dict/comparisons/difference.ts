/** Which contents the two sides do not share, read from a file of them or from the events that made them. */
import { createHash } from 'node:crypto'
import { createVsync, type KeyType } from '#codecs/dict'
import type { Client } from '#src/platform/database/index.ts'
import type { Round } from '#src/platform/jobs/index.ts'
import { cidsOf } from '../entries/store.ts'
import { DirectoryAwayError } from '../exchange.ts'
import { type Refused, tooMany } from '../wire.ts'
import type { CidFile, ReconciliationCalls } from './calls.ts'
import type { CidDifferences, OwnCid } from './domain.ts'
import { ownCidsSince, ownWithCid } from './store.ts'

export type Compared = CidDifferences & {
  readonly entries: number
  /** Whether these differences explain the directory's check. */
  readonly isExplainedBy: (found: CidDifferences) => boolean
}

/** A file of two million entries has 130 megabytes. */
const fileBytesMax = 65 * 2_000_000
const lineForm = /^[0-9a-f]{64}$/

/** Reads a file line by line. @throws DirectoryAwayError unless it is whole and unchanged */
export const readCids = async (
  chunks: AsyncIterable<Uint8Array>,
  { bytes, sha256 }: Pick<NonNullable<CidFile['content']>, 'bytes' | 'sha256'>,
  round: Pick<Round, 'advance'>,
): Promise<Set<string>> => {
  const damaged = (why: string) => new DirectoryAwayError('document', `the file of CIDs ${why}`)
  if (bytes > fileBytesMax) throw damaged(`has ${bytes} bytes`)
  const cids = new Set<string>()
  const hash = createHash('sha256')
  let length = 0
  let rest = ''
  for await (const chunk of chunks) {
    round.advance()
    length += chunk.length
    if (length > bytes) throw damaged('is longer than it says')
    hash.update(chunk)
    const lines = (rest + Buffer.from(chunk).toString('latin1')).split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) {
      const cid = line.trim().toLowerCase()
      if (lineForm.test(cid)) cids.add(cid)
      else if (cid !== '') throw damaged('has a line that is no CID')
    }
  }
  const last = rest.trim().toLowerCase()
  if (lineForm.test(last)) cids.add(last)
  if (length !== bytes || hash.digest('hex') !== sha256) throw damaged('is not what it says')
  return cids
}

/** @param theirs all that the directory has; what both have is taken out of it */
export const differenceTo = async (
  sql: Client,
  type: KeyType,
  theirs: Set<string>,
  round: Pick<Round, 'advance'>,
): Promise<Compared> => {
  const onlyOurs: OwnCid[] = []
  let entries = 0
  for await (const page of cidsOf(sql, type)) {
    round.advance()
    for (const own of page) if (!theirs.delete(own.cid)) onlyOurs.push(own)
    entries += page.length
  }
  return { onlyOurs, onlyTheirs: [...theirs], entries, isExplainedBy: () => true }
}

const pagesMax = 90

/**
 * How the events since a moment differ from our own changes since then.
 *
 * @throws DirectoryAwayError
 */
export const differenceSince = async (
  sql: Client,
  type: KeyType,
  since: Date,
  { read, calls, round }: EventReading,
): Promise<Compared> => {
  const { check, isWhole } = await readEvents(type, calls, read, round)
  const { last } = read
  const known = new Map(
    (await ownWithCid(sql, type, [...last.keys()])).map((one) => [one.cid, one]),
  )
  const changed = await ownCidsSince(sql, type, since)
  const onlyTheirs = [...last].flatMap(([cid, isThere]) =>
    isThere && !known.has(cid) ? [cid] : [],
  )
  const removed = [...known.values()].filter(({ cid }) => last.get(cid) === false)
  const onlyOurs = [...removed, ...changed.filter(({ cid }) => !last.has(cid))]
  const ours = createVsync()
  let entries = 0
  for await (const page of cidsOf(sql, type)) {
    round.advance()
    for (const { cid } of page) ours.toggle(cid)
    entries += page.length
  }
  return {
    onlyOurs,
    onlyTheirs,
    entries,
    // An entry that was only touched since then counts as a candidate until we ask the directory about it.
    isExplainedBy: (found) => {
      const theirs = createVsync(ours.hex())
      for (const { cid } of found.onlyOurs) theirs.toggle(cid)
      for (const cid of found.onlyTheirs) theirs.toggle(cid)
      return isWhole && theirs.hex() === check
    },
  }
}

/** How far we have read the events; after a refusal we go on from here. */
export type ReadEvents = {
  /** Whether each CID was there after the last event about it. */
  readonly last: Map<string, boolean>
  startTime: string
  pages: number
}

type EventReading = {
  /** The reading changes it as it goes on. */
  readonly read: ReadEvents
  readonly calls: Pick<ReconciliationCalls, 'events'>
  readonly round: Pick<Round, 'advance'>
}

export const noEventsRead = (since: Date): ReadEvents => ({
  last: new Map(),
  startTime: since.toISOString(),
  pages: 0,
})

const readEvents = async (
  type: KeyType,
  { events }: EventReading['calls'],
  read: ReadEvents,
  round: EventReading['round'],
) => {
  for (;;) {
    round.advance()
    const page = await events(type, read.startTime)
    if (page.kind === 'refused') throw refusedBy(page)
    for (const { cid, isAdded } of page.events) read.last.set(cid, isAdded)
    const isStuck = page.endTime === read.startTime
    read.pages++
    read.startTime = page.endTime
    if (!page.hasMore || isStuck || read.pages >= pagesMax) {
      return { check: page.check, isWhole: !page.hasMore }
    }
  }
}

/** The directory limits us: we must not ask for `waitMs`. */
export class LimitedError extends DirectoryAwayError {
  readonly waitMs: number

  constructor(message: string, waitMs: number) {
    super('status', message)
    this.waitMs = waitMs
  }
}

/** The wait where the directory names none: by then its smallest bucket has ten tokens again. */
const refillMs = 60_000

export const refusedBy = ({ status, code, retryAfterMs = refillMs }: Refused): Error => {
  const message = `the directory answers ${status} ${code}`
  return status === tooMany
    ? new LimitedError(message, retryAfterMs)
    : new DirectoryAwayError('status', message)
}
