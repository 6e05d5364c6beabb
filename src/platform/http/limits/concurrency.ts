import type { Metrics } from '#src/platform/observe/index.ts'
import { ApiError, httpErrors } from '../errors.ts'
import { createCongestion } from './congestion.ts'

/** The rails whose requests are bounded each by itself: one that is slow takes no room of another. */
export type Rail = 'spi' | 'cards' | 'drex'

/** Requests that may run at once. */
export type ConcurrencyBounds = Readonly<Record<Rail, number>>

/** Room for the requests of a rail. What comes while there is none is refused at once: nothing queues here. */
export type Rooms = {
  /**
   * @param isWork it is work that we do and commit ourselves, so that how long it takes tells whether there is too much
   * @throws ApiError `overloaded`
   */
  readonly enter: (isWork?: boolean) => void
  /** @param isWork as it entered */
  readonly leave: (isWork?: boolean) => void
  /** A wait for others within work. It says nothing about how much there is to do here. */
  readonly away: Away
}

/** Waits for somebody else: a caller's body, a counterparty. */
export type Away = <T>(wait: Promise<T>) => Promise<T>

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
  const congestion = createCongestion({ requestsMax: roomsMax, nowMs })
  let taken = 0
  return {
    enter: (isWork = false) => {
      if (taken >= roomsMax) {
        onShed(rail)
        throw overloaded(`${roomsMax} requests of this kind run now, which is as many as may.`)
      }
      if (isWork && !congestion.enter()) {
        onShed(rail)
        throw overloaded(
          'More requests of this kind come than are done; those that run come first.',
        )
      }
      taken++
    },
    leave: (isWork = false) => {
      taken--
      if (isWork) congestion.leave()
    },
    away: congestion.away,
  }
}

const overloaded = (message: string): ApiError =>
  new ApiError(httpErrors.overloaded, message, {
    details: { sent: false },
    headers: { 'Retry-After': String(retryAfterMs / 1_000) },
  })

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
