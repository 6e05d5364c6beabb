import { type Client, isStatementCanceled } from '#src/platform/database/index.ts'
import { lowOf } from './lanes.ts'
import { floorOf, leastOf, type OwnedLane } from './owned-lane.ts'
import { findFirst, type Range } from './queue.ts'

/** How long a round may take: a hundredth of the time, while dead rows make it long. */
const roundMsMax = 600
const statementMsMax = 1_000
/** A statement that takes less is followed by a wider one. */
const quickMs = 50
const widthMin = 1_024n
const widthMax = 1n << 44n
const widthFactor = 8n

export type Sweep = {
  /** Looks on below the floors of the lanes. @returns what was found, the first in each lane */
  readonly look: (lanes: readonly OwnedLane[]) => Promise<readonly bigint[]>
}

/**
 * Finds commits so late that no search looks there any more. While a transaction is open that could see them, a reader
 * passes all rows settled since it began one by one, perhaps millions. So the sweep goes up the lanes in pieces, none
 * much wider than the last one read in time, and goes on the next time where it stopped.
 */
export const createSweep = (sql: Client): Sweep => {
  let swept = 0n
  let width = widthMin
  const find = async (ranges: readonly Range[]): Promise<readonly bigint[]> => {
    const beganMs = performance.now()
    const found = await findInTime(sql, ranges)
    if (found === undefined) {
      if (width > widthMin) width /= widthFactor
      return []
    }
    swept += width
    if (performance.now() - beganMs < quickMs && width < widthMax) width *= widthFactor
    return found
  }
  return {
    look: async (lanes) => {
      const endMs = performance.now() + roundMsMax
      const found: bigint[] = []
      do {
        const ranges = lanes.flatMap((lane) => pieceOf(lane, swept, width))
        if (ranges.length === 0) {
          swept = 0n
          break
        }
        found.push(...(await find(ranges)))
      } while (performance.now() < endMs)
      return found
    },
  }
}

/** The ids below the floor of a lane, in the piece that begins above this order. */
const pieceOf = (lane: OwnedLane, above: bigint, width: bigint): readonly Range[] => {
  const low = lowOf(lane.lane) + above
  const floor = floorOf(lane)
  return low < floor ? [{ low, high: leastOf([low + width], floor) + 1n }] : []
}

/** @returns undefined if it takes too long */
export const findInTime = async (
  sql: Client,
  ranges: readonly Range[],
): Promise<readonly bigint[] | undefined> => {
  try {
    return await sql.begin(async (tx) => {
      await tx`select set_config('statement_timeout', ${String(statementMsMax)}, true)`
      return findFirst(tx, ranges)
    })
  } catch (error) {
    if (isStatementCanceled(error)) return undefined
    throw error
  }
}
