import { lowOf } from './lanes.ts'

/** A lane that this process reads, and how far. A row that exists is not done: positions only save us the search. */
export type OwnedLane = {
  readonly lane: number
  readonly topic: string
  readonly partition: number
  /** Aborted when another process may have the lane. */
  readonly gone: AbortController
  /** `lost`, as the engine reads it. */
  readonly lost: AbortSignal
  /** On `performance.now()`, counted from before we sent the statement that renewed the lease. */
  untilMs: number
  /** The last id handed out. */
  cursor: bigint
  /** Something may have appeared above this id, not far below the cursor. */
  back: bigint | undefined
  /** Something may have appeared above this id, far below the cursor. */
  far: bigint | undefined
  /** True if the search above an empty span took too long: we read span by span until one has something. */
  isClimbing: boolean
  /** Earlier places of the cursor, a second apart: a late commit appears above the lowest. */
  readonly floors: bigint[]
  /** Something may wait. */
  hasNews: boolean
  /** The unsettled ids of the batch that was handed out. While we fetch one: the first id that it may have, or none. */
  inHand: readonly bigint[] | undefined
  /** The former reader did not give the lane back: the messages that it had in hand may have ended it. */
  isInherited: boolean
  /** The lane is above this process's share: its present batch is the last. */
  isSurplus: boolean
}

export type Claimed = {
  readonly lane: number
  readonly topic: string
  readonly partition: number
  /** The order that the lane's readers had come to. */
  readonly low: bigint
  /** The process that had the lane and did not give it back. */
  readonly before: string | null
}

export const newLane = (
  { before, low, ...place }: Claimed,
  me: string,
  untilMs: number,
): OwnedLane => {
  const gone = new AbortController()
  const cursor = lowOf(place.lane) + low
  return {
    ...place,
    gone,
    lost: gone.signal,
    untilMs,
    cursor,
    floors: [cursor],
    back: undefined,
    far: undefined,
    isClimbing: false,
    inHand: undefined,
    hasNews: true,
    isSurplus: false,
    // A process that lost its lease and lives knows that nothing of it ended it.
    isInherited: before !== null && before !== me,
  }
}

/**
 * How many ids we read again together. While a transaction is open that could see them, even ids settled long ago cost
 * a look each: a longer read might not end in its time.
 */
export const spanMax = 262_144n

/** Notes that something may wait at this id, at the cursor or below. */
export const lookAgain = (lane: OwnedLane, id: bigint): void => {
  const from = id - 1n
  if (lane.cursor - from > spanMax) lane.far = leastOf([from], lane.far ?? from)
  else lane.back = leastOf([from], lane.back ?? from)
}

/** No message appears at this id or below, except by a very late commit. */
export const floorOf = ({ floors, cursor }: OwnedLane): bigint => leastOf(floors, cursor)

/** The next owner of the lane begins above this id. */
export const lowWaterOf = (lane: OwnedLane): bigint => {
  const { back, far, inHand, cursor } = lane
  const first = inHand?.[0]
  return leastOf(
    [back ?? cursor, far ?? cursor, first === undefined ? cursor : first - 1n],
    floorOf(lane),
  )
}

export const leastOf = (ids: readonly bigint[], first: bigint): bigint => {
  let least = first
  for (const id of ids) if (id < least) least = id
  return least
}
