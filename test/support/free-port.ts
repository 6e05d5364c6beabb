/**
 * Below what systems give to outgoing connections (Linux from 32768): nothing takes such a port between the moment it
 * is found free and the moment a program listens on it, nor while that program restarts.
 */
const first = 12_000
const last = 32_000

/** Several test processes of one run start far from each other, so that none takes what another has just found. */
const start = Number(process.env['TEST_PORT_OFFSET'] ?? Math.random())

let next = first + Math.floor(start * (last - first))

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
  for (let tried = first; tried < last; tried++) {
    next = next + 1 < last ? next + 1 : first
    if (isFree(next)) return next
  }
  throw new Error('no free port')
}
