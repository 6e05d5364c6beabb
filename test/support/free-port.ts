/**
 * Below what systems give to outgoing connections (Linux from 32768): nothing takes such a port between the moment it
 * is found free and the moment a program listens on it, nor while that program restarts.
 */
const FIRST = 12_000
const LAST = 32_000

let next = FIRST + Math.floor(Math.random() * (LAST - FIRST))

const isFree = (port: number): boolean => {
  try {
    Bun.listen({ hostname: '127.0.0.1', port, socket: { data: () => {} } }).stop(true)
    return true
  } catch {
    return false
  }
}

/** A port of the loopback that nobody listens on; another one each time. */
export const freePort = (): number => {
  for (let tried = FIRST; tried < LAST; tried++) {
    next = next + 1 < LAST ? next + 1 : FIRST
    if (isFree(next)) return next
  }
  throw new Error('no free port')
}
