import type { Client } from '#src/platform/database/index.ts'
import { pause } from '#src/platform/runtime/index.ts'
import type { FetchedBatch, PartitionSource } from '../engine.ts'
import { DeliveryLostError } from '../errors.ts'
import type { ConsumeOptions, Delivery } from '../types.ts'
import { highOf, type Lanes, laneOf } from './lanes.ts'
import type { Leases } from './leases.ts'
import { floorOf, lookAgain, type OwnedLane, spanMax } from './owned-lane.ts'
import { insertMessages } from './publish.ts'
import {
  batchBytesMax,
  countAttempts,
  deleteRows,
  deliveryOf,
  fetchRows,
  findRemaining,
  type QueuedRow,
  type Range,
  setAttempt,
} from './queue.ts'
import type { Session } from './session.ts'
import { findInTime } from './sweep.ts'

export type MemberDeps = {
  readonly sql: Client
  readonly lanes: Lanes
  readonly leases: Leases
  /** Reads for all members of the process. */
  readonly reader: Session
  /** Ids that a handler's transaction has settled. */
  readonly settledWithin: Set<bigint>
}

/** If this many processes ended with rows in hand, we hand the rows out alone, and unpack no others beside them. */
const suspectAfter = 2
const settleAgainMs = 200

/** A topic's lanes as this process reads them. */
export const joinTopic = (
  { topic }: ConsumeOptions,
  deps: MemberDeps,
): PartitionSource<OwnedLane, Delivery> => {
  const { sql, lanes, leases, reader, settledWithin } = deps
  leases.join(topic)
  const readable = (): readonly OwnedLane[] =>
    leases
      .of(topic)
      .filter((lane) => lane.hasNews && !lane.isSurplus && lane.untilMs > performance.now())

  /** Repeats until the work is done, or the lane is another's, whose process then sees what was left. */
  const persist = async <T>(lane: OwnedLane, work: () => Promise<T>): Promise<T | undefined> => {
    do {
      try {
        return await work()
      } catch {
        lane.hasNews = true
      }
    } while (await pause(settleAgainMs, lane.lost))
    return undefined
  }

  return {
    rebalance: async () => {},
    assigned: () => readable().map(({ partition }) => partition),
    fetch: async (partitions, messagesMax) => {
      const wanted = readable().filter(({ partition }) => partitions.includes(partition))
      const ranges = new Map(wanted.map((lane) => [lane, takeRange(lane)]))
      try {
        const fetched = await reader.ask((own) => fetchRows(own, [...ranges.values()], messagesMax))
        // Late rows that end this process are counted only where the next reader begins below them.
        const late = [...ranges].filter(
          ([lane, { low, floor }]) =>
            low < floor && rowsOf(lane, fetched).some(({ id }) => id <= floor),
        )
        if (late.length > 0) await leases.lower(late.map(([lane]) => lane))
        await Promise.all([...ranges].map((one) => climb(sql, ...one, fetched)))
        const rows = await countInherited(sql, wanted, fetched)
        return [...ranges].flatMap(([lane, range]) => handOut(lane, range, rows, messagesMax))
      } catch (error) {
        for (const [lane, { low }] of ranges) {
          lane.hasNews = true
          lane.inHand = undefined
          if (low < lane.cursor) lookAgain(lane, low + 1n)
        }
        throw error
      }
    },
    settle: async (lane, settled) => {
      const ids = settled.map(({ offset }) => offset).filter((id) => !settledWithin.has(id))
      if (ids.length > 0) await persist(lane, () => deleteRows(sql, ids))
      for (const id of lane.inHand ?? []) settledWithin.delete(id)
      const done = new Set(settled.map(({ offset }) => offset))
      const left = lane.inHand?.find((id) => !done.has(id))
      if (left !== undefined) lookAgain(lane, left)
      lane.inHand = undefined
    },
    remaining: async (lane, messages) => {
      const ids = messages.map(({ offset }) => offset)
      const left = await persist(lane, () => findRemaining(sql, ids))
      for (const id of left ?? []) settledWithin.delete(id)
      return messages.filter(({ offset }) => left?.has(offset) === true)
    },
    keepAttempt: ({ offset }, attempt) => setAttempt(sql, offset, attempt),
    bury: (letter, { offset }) =>
      sql.begin(async (tx) => {
        await insertMessages(tx, lanes, [letter])
        if ((await deleteRows(tx, [offset])) === 0) throw new DeliveryLostError('settled already')
      }),
    retire: () => leases.retire(topic),
    close: () => leases.leave(topic).catch(() => {}),
  }
}

/**
 * The range of a lane to read now: from the place of a late message, if there was one, and all above. If that place is
 * far below, only a span from there; the messages above the cursor come the next time.
 * @returns with the floor that the lane had before
 */
const takeRange = (lane: OwnedLane): Range & { readonly floor: bigint } => {
  const { far } = lane
  const floor = floorOf(lane)
  lane.hasNews = false
  if (far !== undefined) {
    lane.far = undefined
    lane.inHand = [far + 1n]
    return { low: far, high: far + spanMax + 1n, floor }
  }
  if (lane.back !== undefined && lane.back < lane.cursor) lane.cursor = lane.back
  lane.back = undefined
  lane.inHand = []
  return { low: lane.cursor, high: highOf(lane.lane), floor }
}

/** If a far span is empty, goes on to the first message above it, or to the next span. */
const climb = async (
  sql: Client,
  lane: OwnedLane,
  { low, high }: Range,
  rows: readonly QueuedRow[],
): Promise<void> => {
  if (low >= lane.cursor) return
  if (rowsOf(lane, rows).length > 0) {
    lane.isClimbing = false
    return
  }
  const found = lane.isClimbing
    ? undefined
    : await findInTime(sql, [{ low: high - 1n, high: lane.cursor + 1n }])
  lane.isClimbing = found === undefined
  for (const id of found ?? [high]) lookAgain(lane, id)
}

const rowsOf = ({ lane }: OwnedLane, rows: readonly QueuedRow[]): readonly QueuedRow[] =>
  rows.filter(({ id }) => laneOf(id) === lane)

/**
 * Counts what a reader may have had in hand that did not give its lane back: at most twice, for then each row goes
 * alone and its attempts are counted as they begin.
 */
const countInherited = async (
  sql: Client,
  lanes: readonly OwnedLane[],
  rows: readonly QueuedRow[],
): Promise<readonly QueuedRow[]> => {
  const inherited = new Set(
    lanes
      .filter(({ isInherited }) => isInherited)
      .flatMap((lane) => rowsOf(lane, rows))
      .filter(({ attempt }) => attempt < suspectAfter)
      .map(({ id }) => id),
  )
  if (inherited.size > 0) await countAttempts(sql, [...inherited])
  for (const lane of lanes) lane.isInherited = false
  return rows.map((row) => (inherited.has(row.id) ? { ...row, attempt: row.attempt + 1 } : row))
}

/** Picks the messages of a lane that may go together. */
const handOut = (
  lane: OwnedLane,
  { low, high }: Range,
  rows: readonly QueuedRow[],
  messagesMax: number,
): readonly FetchedBatch<OwnedLane, Delivery>[] => {
  const own = rowsOf(lane, rows)
  const isSuspect = (row: QueuedRow | undefined): boolean => (row?.attempt ?? 0) >= suspectAfter
  const [first] = own
  const end = isSuspect(first) ? 1 : own.findIndex(isSuspect)
  const messages = unpack(end === -1 ? own : own.slice(0, end), lane)
  const last = messages.at(-1)?.offset
  const isFar = low < lane.cursor
  lane.inHand = undefined
  lane.hasNews ||= isFar
  if (last === undefined || lane.lost.aborted) return []
  const isCut =
    messages.length < own.length || own.length === messagesMax || bytesOf(own) >= batchBytesMax
  // More late messages may follow the one that was there.
  if (isFar) lookAgain(lane, isCut ? last + 1n : high)
  else lane.cursor = last
  lane.hasNews ||= isCut
  lane.inHand = messages.map(({ offset }) => offset)
  return [{ lease: lane, messages, isSuspect: isSuspect(first) }]
}

const bytesOf = (values: readonly { readonly value: Uint8Array }[]): number =>
  values.reduce((sum, { value }) => sum + value.length, 0)

/** Unpacks no more than a batch holds: a value of few bytes may unpack to many. */
const unpack = (rows: readonly QueuedRow[], lane: OwnedLane): readonly Delivery[] => {
  const messages: Delivery[] = []
  let bytes = 0
  for (const row of rows) {
    if (bytes >= batchBytesMax) break
    const message = deliveryOf(row, lane)
    messages.push(message)
    bytes += message.value.length
  }
  return messages
}
