import type { Metrics } from '#src/platform/observe/index.ts'
import { ApiError, httpErrors } from '../errors.ts'
import { type Callers, createCallers } from './callers.ts'
import { createCongestion } from './congestion.ts'

/** The rails, each with its own bound of requests: a slow rail takes no room of another. */
export type Rail = 'spi' | 'cards' | 'drex'

/** Requests that may run at once. */
export type ConcurrencyBounds = Readonly<Record<Rail, number>>

/**
 * The kinds of requests whose time tells how much there is to do: those that we do and commit ourselves, and questions.
 * Each kind is judged by itself, so that too many questions leave room for requests that move money.
 */
export type Use = 'writing' | 'reading'

/** Room for the requests of a rail. If there is none, a request is refused at once: nothing queues here. */
export type Rooms = {
  /**
   * @param use undefined: it may wait for somebody else at any time, so that its time tells nothing
   * @throws ApiError `overloaded`
   */
  readonly enter: (use?: Use) => void
  /**
   * Gives a use to a request that has entered without one.
   *
   * @throws ApiError `overloaded`; the request has no room then
   */
  readonly begin: (use: Use) => void
  /** @param use as it entered or began */
  readonly leave: (use?: Use) => void
  /** A wait for others. It says nothing about how much there is to do here. */
  readonly away: Away
  /** The same from here to {@link Rooms.resume}. */
  readonly pause: (use: Use) => void
  readonly resume: (use: Use) => void
  /** Requests that have a room and wait for their caller: they are the first to give theirs up when there is none. */
  readonly callers: Callers
}

/** Waits for somebody else: a caller's body, a counterparty. The use is that of the request, by default writing. */
export type Away = <T>(wait: Promise<T>, use?: Use) => Promise<T>

/** The rooms of each rail, which all its listeners share: HTTP and gRPC. */
export type RailRooms = Readonly<Record<Rail, Rooms>>

export const retryAfterMs = 1_000

/** @param onShed hears of each request that is refused */
export const createRooms = (
  rail: Rail,
  roomsMax: number,
  onShed: (rail: Rail) => void,
  nowMs = (): number => performance.now(),
): Rooms => {
  const congestion = {
    writing: createCongestion({ requestsMax: roomsMax, nowMs }),
    reading: createCongestion({ requestsMax: roomsMax, nowMs }),
  }
  const callers = createCallers(nowMs)
  let taken = 0
  const begin = (use: Use): void => {
    if (congestion[use].enter()) return
    onShed(rail)
    throw overloaded('More requests of this kind come than are done; those that run come first.')
  }
  return {
    begin,
    enter: (use) => {
      if (taken >= roomsMax && !callers.makeRoom()) {
        onShed(rail)
        throw overloaded(`${roomsMax} requests of this kind run now, which is as many as may.`)
      }
      if (use !== undefined) begin(use)
      taken++
    },
    leave: (use) => {
      taken--
      if (use !== undefined) congestion[use].leave()
    },
    away: (wait, use = 'writing') => congestion[use].away(wait),
    pause: (use) => congestion[use].pause(),
    resume: (use) => congestion[use].resume(),
    callers,
  }
}

const overloaded = (message: string): ApiError =>
  new ApiError(httpErrors.overloaded, message, {
    details: { sent: false },
    headers: { 'Retry-After': String(retryAfterMs / 1_000) },
  })

/** Runs work of an account as long as less than so much of it runs. @throws ApiError `overloaded` */
type Bound = <T>(account: string, work: () => Promise<T>) => Promise<T>

/** The most that an account may have, as a multiple of what is left for others. */
const heldPerFree = 2

/** Bounds requests to addresses that clients chose: the runtime makes only so many requests of its own at once. */
export const createBound = (runningMax: number): Bound => {
  const held = new Map<string, number>()
  let running = 0
  return async (account, work) => {
    const own = held.get(account) ?? 0
    const free = runningMax - running
    if (free === 0) {
      throw overloaded(`${runningMax} requests of this kind run now, which is as many as may.`)
    }
    if (own >= heldPerFree * free) {
      throw overloaded(`${own} requests of the account run now, which leaves few to others.`)
    }
    running++
    held.set(account, own + 1)
    try {
      return await work()
    } finally {
      running--
      const left = (held.get(account) ?? 0) - 1
      if (left > 0) held.set(account, left)
      else held.delete(account)
    }
  }
}

export const createRailRooms = (metrics: Metrics, bounds: ConcurrencyBounds): RailRooms => {
  const shed = metrics.counter(
    'trilho_requests_shed_total',
    'Requests that were refused because as many of their rail ran as may.',
    ['rail'],
  )
  const roomsOf = (rail: Rail) => {
    shed.inc({ rail }, 0)
    return createRooms(rail, bounds[rail], () => shed.inc({ rail }))
  }
  return { spi: roomsOf('spi'), cards: roomsOf('cards'), drex: roomsOf('drex') }
}
