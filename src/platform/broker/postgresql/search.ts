import { highOf, laneOf, lowOf } from './lanes.ts'
import type { Leases, OwnedLane } from './leases.ts'
import { findFirst } from './queue.ts'
import type { Session } from './session.ts'

/** A transaction that publishes is over by then, but for rare ones. */
const lateMs = 15_000
const floorEveryMs = 1_000
const floorsMax = lateMs / floorEveryMs
/** How often the lanes are searched from their start, for those. */
const fullEveryMs = 60_000
/** A full search may take this part of the time: dead rows make it long while vacuum is held up. */
const fullShare = 0.01

export type Search = {
  /** Looks for what nobody told of. @returns the first of it in each lane */
  readonly look: (lanes: readonly OwnedLane[]) => Promise<readonly bigint[]>
}

/**
 * Finds messages in the lanes of this process without being told. Ids commit out of order: one below a cursor is late,
 * not lost, because its row exists. So each search begins at a floor, where the cursor was some time ago; a longer one,
 * now and then, at the start of the lane.
 */
export const createSearch = (session: Session): Search => {
  let fullDueMs = performance.now() + fullEveryMs
  let flooredMs = Number.NEGATIVE_INFINITY
  return {
    look: async (lanes) => {
      if (lanes.length === 0) return []
      const beganMs = performance.now()
      const isFull = beganMs >= fullDueMs
      if (beganMs - flooredMs >= floorEveryMs) {
        flooredMs = beganMs
        for (const lane of lanes) {
          lane.floors.push(lane.cursor)
          if (lane.floors.length > floorsMax) lane.floors.shift()
        }
      }
      const ranges = lanes.map(({ lane, cursor, floors, inHand }) => ({
        low: isFull ? lowOf(lane) : leastOf(floors, cursor),
        high: inHand?.[0] ?? highOf(lane),
      }))
      const found = await session.ask((sql) => findFirst(sql, ranges))
      if (isFull) {
        const endMs = performance.now()
        fullDueMs = endMs + Math.max(fullEveryMs, (endMs - beganMs) / fullShare)
      }
      return found
    },
  }
}

/** Marks the lanes in which something waits. @returns whether any of it is above its lane's cursor */
export const notice = (leases: Leases, ids: readonly bigint[]): boolean => {
  let isNew = false
  for (const id of ids) {
    const lane = leases.find(laneOf(id))
    if (lane === undefined) continue
    lane.hasNews = true
    if (id > lane.cursor) isNew = true
    else if (lane.back === undefined || id <= lane.back) lane.back = id - 1n
  }
  return isNew
}

const leastOf = (ids: readonly bigint[], first: bigint): bigint => {
  let least = first
  for (const id of ids) if (id < least) least = id
  return least
}
