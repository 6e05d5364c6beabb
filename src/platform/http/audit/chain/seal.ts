import { type Client, daysAgo, uuidBound } from '#src/platform/database/index.ts'
import type { Round } from '#src/platform/jobs/index.ts'
import type { Logger } from '#src/platform/observe/index.ts'
import { uuidMoment } from '#src/platform/runtime/index.ts'
import { hashBytes, hashOf, origin, type SealedEntry } from './hash.ts'
import {
  addLink,
  entriesOf,
  type Link,
  lastLink,
  lateFrom,
  type Span,
  sealedUntil,
  unsealedSince,
} from './store.ts'

/** Entries of one link. */
const entriesMax = 2_000
/** An id is made before its transaction commits: entries are sealed once those beside them are committed too. */
export const settleMs = 30_000
const first = '00000000-0000-7000-8000-000000000000'
/** How often what is late is looked for. */
export const sealLateEveryMs = 600_000

type Sealing = {
  readonly sql: Client
  readonly logger: Logger
  readonly round?: Pick<Round, 'signal' | 'advance'> | undefined
  /**
   * The clock of the database, if not given: a process with a wrong one would seal too early, and miss entries for
   * good.
   */
  readonly nowMs?: () => number | Promise<number>
}

/**
 * Seals new entries: each link holds the hashes of a span of entries, each over the one before. One process at a
 * time: a second that writes the same link is refused by its number.
 *
 * @returns how many entries it sealed
 */
export const sealEntries = async ({
  sql,
  logger,
  round,
  nowMs = async () => (await daysAgo(sql, 0)).getTime(),
}: Sealing): Promise<number> => {
  const pausedBefore = uuidBound(new Date((await nowMs()) - sealLateEveryMs))
  let isLateSealed = false
  let total = 0
  while (round?.signal.aborted !== true) {
    // Before we read the span: a process that has linked it meanwhile has taken the next number.
    const before = await lastLink(sql)
    const fromId = (await sealedUntil(sql)) ?? first
    const endId = uuidBound(new Date((await nowMs()) - settleMs))
    if (fromId >= endId) return total
    const found = await entriesOf(sql, { fromId, toId: endId }, entriesMax + 1)
    // An empty span would be a link a round for nothing.
    if (found.length === 0) return total
    // After a pause, we first seal late commits from before it: the hour that we search for them follows the sealing.
    if (!isLateSealed && fromId < pausedBefore) {
      await sealLate({ sql, logger, round })
      isLateSealed = true
      continue
    }
    const { entries, toId } = withinMonth(found, endId)
    if (!(await link(sql, before, { fromId, toId }, entries, false, logger))) return total
    total += entries.length
    round?.advance()
  }
  return total
}

/** Seals what was committed into the last hour that is sealed, after it was. @returns how many */
export const sealLate = async ({ sql, logger, round }: Omit<Sealing, 'nowMs'>): Promise<number> => {
  let total = 0
  let fromId = await lateFrom(sql)
  while (round?.signal.aborted !== true) {
    const before = await lastLink(sql)
    const endId = await sealedUntil(sql)
    if (fromId === undefined || endId === undefined || fromId >= endId) return total
    const found = await unsealedSince(sql, { fromId, toId: endId }, entriesMax + 1)
    if (found.length === 0) return total
    const { entries, toId } = withinMonth(found, endId)
    if (!(await link(sql, before, { fromId, toId }, entries, true, logger))) return total
    total += entries.length
    if (entries.length === found.length) return total
    fromId = toId
    round?.advance()
  }
  return total
}

/** Cuts a link at the end of a month: retention drops entries by the month, and only those of whole links. */
const withinMonth = (found: readonly SealedEntry[], endId: string) => {
  const at = uuidMoment(found[0]?.id ?? '')
  const monthEnd = uuidBound(new Date(Date.UTC(at.getUTCFullYear(), at.getUTCMonth() + 1)))
  const entries = found.filter(({ id }) => id < monthEnd).slice(0, entriesMax)
  const next = found[entries.length]?.id ?? endId
  // Both are texts.
  return { entries, toId: [next, monthEnd].sort()[0] ?? monthEnd }
}

const link = async (
  sql: Client,
  before: Link | undefined,
  span: Span,
  entries: readonly SealedEntry[],
  isLate: boolean,
  logger: Logger,
): Promise<boolean> => {
  const seq = (before?.seq ?? 0n) + 1n
  const hashes = Buffer.alloc(entries.length * hashBytes)
  let hash = before?.hash ?? origin
  for (const [at, entry] of entries.entries()) {
    hash = hashOf(hash, entry)
    hashes.set(hash, at * hashBytes)
  }
  const ids = entries.map(({ id }) => id)
  if (!(await addLink(sql, { ...span, seq, isLate, ids, hashes, hash }))) return false
  // Anyone who keeps the log elsewhere has an anchor that nobody with the database alone can change.
  const anchor = `${seq}:${Buffer.from(hash).toString('hex')}`
  logger.info({ anchor, entries: entries.length, late: isLate }, 'audit entries are sealed')
  return true
}
