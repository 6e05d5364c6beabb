import type { Metrics } from '#src/platform/observe/index.ts'
import { ApiError, httpErrors } from '../errors.ts'

/** The rails whose requests are bounded each by itself: one that is slow takes no room of another. */
export type Rail = 'spi' | 'cards' | 'drex'

/** Requests that may run at once. */
export type ConcurrencyBounds = Readonly<Record<Rail, number>>

/** Room for the requests of a rail. What comes while there is none is refused at once: nothing queues here. */
export type Rooms = {
  /** @throws ApiError `overloaded` */
  readonly enter: () => void
  readonly leave: () => void
}

/** The rooms of each rail, which all its listeners share: HTTP and gRPC. */
export type RailRooms = Readonly<Record<Rail, Rooms>>

export const retryAfterMs = 1_000

/** @param onShed hears of each request that is refused */
export const createRooms = (rail: Rail, roomsMax: number, onShed: (rail: Rail) => void): Rooms => {
  let taken = 0
  return {
    enter: () => {
      if (taken >= roomsMax) {
        onShed(rail)
        throw new ApiError(
          httpErrors.overloaded,
          `${roomsMax} requests of this kind run now, which is as many as may.`,
          { details: { sent: false }, headers: { 'Retry-After': String(retryAfterMs / 1_000) } },
        )
      }
      taken++
    },
    leave: () => {
      taken--
    },
  }
}

export const createRailRooms = (metrics: Metrics, bounds: ConcurrencyBounds): RailRooms => {
  const shed = metrics.counter(
    'trilho_requests_shed_total',
    'Requests that were refused because as many of their rail ran as may.',
    ['rail'],
  )
  const roomsOf = (rail: Rail) => createRooms(rail, bounds[rail], () => shed.inc({ rail }))
  return { spi: roomsOf('spi'), cards: roomsOf('cards'), drex: roomsOf('drex') }
}
