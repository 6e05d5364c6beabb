import type { Socket } from 'node:net'
import { createOutageLog, type Logger, type Metrics } from '#src/platform/observe/index.ts'
import { createOpenSet } from './open-set.ts'

type Connection = {
  readonly socket: Socket
  /** Whether a call with a valid key has come over it. */
  isKnown: boolean
}

export type Connections = ReturnType<typeof createConnections>

/**
 * The connections of a listener. They have so many places; where all are taken, a new one takes that of the oldest over
 * which no call with a valid key has come, so that nobody without a key keeps out those who have one.
 * Which of the two befell a connection is counted, and the log says that it happens.
 *
 * @param halfClosedMs how long the other end may take to close its half of a connection once we have closed ours
 */
export const createConnections = (
  connectionsMax: number,
  halfClosedMs: number,
  { metrics, logger }: { readonly metrics: Metrics; readonly logger: Logger },
) => {
  const open = createOpenSet<Connection>()
  const byPeer = new Map<string, Connection>()
  const closed = metrics.counter(
    'trilho_grpc_connections_closed_total',
    'gRPC connections closed because all places are taken: new ones (refused), and those that made room for one (evicted); and those that began too many calls at once (flooding).',
    ['reason'],
  )
  const fullness = createOutageLog(logger, {
    level: 'warn',
    away: 'gRPC has no place for another connection: the oldest without a key makes room, or the new one is closed',
    back: 'gRPC has places for connections again',
  })
  const tell = (reason: 'refused' | 'evicted'): void => {
    closed.inc({ reason })
    fullness.failed(new Error(`all ${connectionsMax} places are taken`), { reason })
  }
  const makesPlace = (): boolean => {
    const stranger = open.items().find(({ isKnown }) => !isKnown)
    tell(stranger === undefined ? 'refused' : 'evicted')
    if (stranger === undefined) return false
    stranger.socket.destroy()
    // Its place is free now, and not only once its end is told.
    open.delete(stranger)
    return true
  }
  return {
    /** False: there are too many, and it is closed. */
    admit: (socket: Socket): boolean => {
      if (open.size() < connectionsMax) fullness.worked()
      else if (!makesPlace()) {
        socket.destroy()
        return false
      }
      const connection = { socket, isKnown: false }
      const peer = `${socket.remoteAddress}:${socket.remotePort}`
      let halfClosed: Timer | undefined
      open.add(connection)
      byPeer.set(peer, connection)
      socket.once('finish', () => {
        halfClosed = setTimeout(() => socket.destroy(), halfClosedMs).unref()
      })
      socket.once('close', () => {
        clearTimeout(halfClosed)
        open.delete(connection)
        if (byPeer.get(peer) === connection) byPeer.delete(peer)
      })
      // A connection that breaks ends its calls; there is nobody to tell.
      socket.on('error', () => socket.destroy())
      return true
    },
    /** A call with a valid key came from there. @param peer address and port, as the library writes them */
    know: (peer: string): void => {
      const connection = byPeer.get(peer)
      if (connection !== undefined) connection.isKnown = true
    },
    /** One of them has begun more calls at once than it may, and ends. */
    flooded: (): void => {
      closed.inc({ reason: 'flooding' })
      logger.warn({}, 'a gRPC connection has begun too many calls at once and is closed')
    },
    /** Resolves when none is open. */
    closed: open.empty,
    /** Ends what is still open. */
    destroy: (): void => {
      for (const { socket } of open.items()) socket.destroy()
    },
  }
}
