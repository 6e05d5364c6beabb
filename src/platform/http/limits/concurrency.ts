import { ApiError, httpErrors } from '../errors.ts'

/** The rails whose requests are bounded each by itself: one that is slow takes no room of another. */
export const rails = ['spi', 'cards', 'drex'] as const
export type Rail = (typeof rails)[number]

/** Requests that may run at once. */
export type ConcurrencyBounds = Readonly<Record<Rail, number>>

/** Room for the requests of a rail. What comes while there is none is refused at once: nothing queues here. */
export type Rooms = {
  /** @throws ApiError `overloaded` */
  readonly enter: () => void
  readonly leave: () => void
}

const retryAfterSeconds = '1'

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
          { details: { sent: false }, headers: { 'Retry-After': retryAfterSeconds } },
        )
      }
      taken++
    },
    leave: () => {
      taken--
    },
  }
}
