import { createServer as createPlainServer, type Server, type Socket } from 'node:net'
import { createServer as createTlsServer, type TLSSocket } from 'node:tls'
import type { ListenAddress } from '#src/platform/config/index.ts'
import { followMaterial, type KeyMaterial, type TlsOptions } from '#src/platform/security/index.ts'
import { createOpenSet } from './open-set.ts'

/** Connections at once; one more is closed at once. */
const connectionsMaxDefault = 1_000
const handshakeMsDefault = 10_000

export type GrpcListener = {
  readonly port: number
  /** Takes no new connection; open ones stay. */
  readonly close: () => void
  /** Resolves when no connection is open. */
  readonly closed: () => Promise<void>
  /** Ends what is still open. */
  readonly destroy: () => void
}

export type GrpcListenerOptions = {
  readonly address: ListenAddress
  /** Undefined: plaintext. With an authority in it, clients must have a certificate from that authority. */
  readonly material: KeyMaterial | undefined
  readonly accept: (socket: Socket) => void
  readonly connectionsMax?: number | undefined
  readonly handshakeMs?: number | undefined
}

/**
 * Listens and hands each connection to `accept`. The listener is ours, not the library's, so that
 * we can limit connections and exchange certificates. Rejects with `code` EADDRINUSE when the
 * port is taken.
 */
export const listenForGrpc = async (options: GrpcListenerOptions): Promise<GrpcListener> => {
  const { address, material, accept, connectionsMax = connectionsMaxDefault } = options
  const open = createOpenSet<Socket>()
  const connections = {
    closed: open.empty,
    destroy: (): void => {
      for (const socket of open.items()) socket.destroy()
    },
  }
  /** False: there are too many. */
  const admit = (socket: Socket): boolean => {
    if (open.size() >= connectionsMax) {
      socket.destroy()
      return false
    }
    open.add(socket)
    socket.once('close', () => open.delete(socket))
    // A connection that breaks ends its calls; there is nobody to tell.
    socket.on('error', () => socket.destroy())
    return true
  }
  if (material === undefined) {
    const server = createPlainServer((socket) => {
      if (admit(socket)) accept(socket)
    })
    return { ...connections, port: await listening(server, address), close: () => server.close() }
  }
  const { handshakeMs: handshakeTimeout = handshakeMsDefault } = options
  const server = createTlsServer(
    { ...tlsOptions(material.current()), handshakeTimeout, ALPNProtocols: ['h2'] },
    (socket: TLSSocket) => {
      if (socket.alpnProtocol === 'h2') accept(socket)
      else socket.destroy()
    },
  )
  // We count before the handshake, to limit also the clients that never end theirs.
  server.on('connection', admit)
  // A handshake fails or takes too long: Bun reports it but leaves the socket open.
  server.on('tlsClientError', (_error, socket) => socket.destroy())
  const unfollow = followMaterial(
    { setSecureContext: (changed) => server.setSecureContext(tlsOptions(changed)) },
    material,
  )
  return {
    ...connections,
    port: await listening(server, address),
    close: () => {
      unfollow()
      server.close()
    },
  }
}

const tlsOptions = (options: TlsOptions) => ({
  ...options,
  minVersion: 'TLSv1.2' as const,
  requestCert: options.ca !== undefined,
  rejectUnauthorized: options.ca !== undefined,
})

const listening = async (server: Server, { host, port }: ListenAddress): Promise<number> => {
  const bound = Promise.withResolvers<void>()
  server.once('error', bound.reject)
  server.listen({ port, ...(host === undefined ? {} : { host }) }, bound.resolve)
  await bound.promise
  server.off('error', bound.reject)
  const address = server.address()
  return typeof address === 'object' && address !== null ? address.port : port
}
