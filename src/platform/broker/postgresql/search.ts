import { highOf, laneOf } from './lanes.ts'
import type { Leases } from './leases.ts'
import { floorOf, lookAgain, type OwnedLane } from './owned-lane.ts'
import { findFirst } from './queue.ts'
import type { Session } from './session.ts'

/** Nearly every transaction that publishes is over by then. */
const lateMs = 15_000
const floorEveryMs = 1_000
const floorsMax = lateMs / floorEveryMs

export type Search = {
  /** Looks for messages without a notice. @returns the first one in each lane */
  readonly look: (lanes: readonly OwnedLane[]) => Promise<readonly bigint[]>
}

/**
 * Finds messages in the lanes of this process without being told. Ids commit out of order: one below a cursor is late,
 * not lost, because its row exists. So each search begins at a floor, where the cursor was some time ago; the sweep
 * looks below it.
 */
export const createSearch = (session: Session): Search => {
  let flooredMs = Number.NEGATIVE_INFINITY
  return {
    look: async (lanes) => {
      if (lanes.length === 0) return []
      const nowMs = performance.now()
      const cursors = lanes.map(({ cursor }) => cursor)
      const ranges = lanes.map((lane) => ({
        low: floorOf(lane),
        high: lane.inHand?.[0] ?? highOf(lane.lane),
      }))
      const found = await session.ask((sql) => findFirst(sql, ranges))
      // A floor rises only after an answer: a failed search has not seen the messages that it was to find.
      if (nowMs - flooredMs >= floorEveryMs) {
        flooredMs = nowMs
        for (const [place, { floors, cursor }] of lanes.entries()) {
          floors.push(cursors[place] ?? cursor)
          if (floors.length > floorsMax) floors.shift()
        }
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
    else lookAgain(lane, id)
  }
  return isNew
}
