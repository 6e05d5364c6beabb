/** The concurrency of an endpoint that we do not know yet; success doubles it, failure sets it to one. */
const concurrencyFirst = 8
const breakerFirstMs = 1_000
const breakerMaxMs = 60_000
/** Consecutive failures after which an endpoint rests. */
const breakerFailures = 5

/** One endpoint's own queue: endpoints share nothing here. */
export type Lane = {
  running: number
  concurrency: number
  failures: number
  /** On the clock of `performance.now()`: make no attempt before. */
  restsUntilMs: number
}

export type Lanes = {
  readonly of: (endpointId: string) => Lane
  /** How many attempts may begin now, for each endpoint that may begin one. */
  readonly rooms: (endpointIds: ReadonlySet<string>) => Map<string, number>
}

export const createLanes = (concurrencyMax: number): Lanes => {
  const lanes = new Map<string, Lane>()

  const of = (id: string): Lane => {
    let lane = lanes.get(id)
    if (lane === undefined) {
      const concurrency = Math.min(concurrencyFirst, concurrencyMax)
      lane = { running: 0, concurrency, failures: 0, restsUntilMs: 0 }
      lanes.set(id, lane)
    }
    return lane
  }

  return {
    of,
    rooms: (endpointIds) => {
      const nowMs = performance.now()
      for (const [id, lane] of lanes) {
        if (lane.running === 0 && !endpointIds.has(id)) lanes.delete(id)
      }
      const rooms = new Map<string, number>()
      for (const id of endpointIds) {
        const lane = of(id)
        const room = lane.restsUntilMs > nowMs ? 0 : lane.concurrency - lane.running
        if (room > 0) rooms.set(id, room)
      }
      return rooms
    },
  }
}

/** Success widens the lane; failure narrows it to one, and several in a row let the endpoint rest. */
export const notePace = (lane: Lane, succeeded: boolean, concurrencyMax: number): void => {
  if (succeeded) {
    lane.failures = 0
    lane.restsUntilMs = 0
    lane.concurrency = Math.min(concurrencyMax, lane.concurrency * 2)
    return
  }
  lane.failures++
  lane.concurrency = 1
  const beyond = lane.failures - breakerFailures
  if (beyond >= 0) {
    const restMs = Math.min(breakerMaxMs, breakerFirstMs * 2 ** Math.min(beyond, 10))
    lane.restsUntilMs = performance.now() + restMs
  }
}
