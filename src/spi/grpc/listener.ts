import { createServer as createPlainServer, type Server, type Socket } from 'node:net'
import type { ListenAddress } from '#src/platform/config/index.ts'

/** Connections at once; one more is closed at once. */
export const connectionsMax = 1_000

export type GrpcListener = {
  readonly port: number
  /** Takes no new connection; those that are open stay. */
  readonly close: () => void
}

/**
 * Listens and hands each connection to `accept`. Rejects with `code` EADDRINUSE when the port is taken.
 */
export const listenForGrpc = async (
  address: ListenAddress,
  accept: (socket: Socket) => void,
): Promise<GrpcListener> => {
  const open = new Set<Socket>()
  const server = createPlainServer((socket) => {
    if (open.size >= connectionsMax) {
      socket.destroy()
      return
    }
    open.add(socket)
    socket.once('close', () => open.delete(socket))
    // A connection that breaks ends its calls; there is nobody to tell.
    socket.on('error', () => socket.destroy())
    accept(socket)
  })
  return { port: await listening(server, address), close: () => server.close() }
}

const listening = async (server: Server, { host, port }: ListenAddress): Promise<number> => {
  const bound = Promise.withResolvers<void>()
  server.once('error', bound.reject)
  server.listen({ port, ...(host === undefined ? {} : { host }) }, bound.resolve)
  await bound.promise
  server.off('error', bound.reject)
  const address = server.address()
  return typeof address === 'object' && address !== null ? address.port : port
}
