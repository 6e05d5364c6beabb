import { createRooms, type Rail, type Rooms } from '#src/platform/http/index.ts'

/** Rooms of a rail whose time stands still until it is told to pass. */
export const timedRooms = (
  rail: Rail,
  roomsMax = 1_000,
): { readonly rooms: Rooms; readonly pass: (ms: number) => void } => {
  let nowMs = 0
  const rooms = createRooms(
    rail,
    roomsMax,
    () => {},
    () => nowMs,
  )
  return {
    rooms,
    pass: (ms) => {
      nowMs += ms
    },
  }
}
