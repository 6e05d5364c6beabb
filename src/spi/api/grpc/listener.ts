import { createServer as createPlainServer, type Server, type Socket } from 'node:net'
import { createServer as createTlsServer, type TLSSocket } from 'node:tls'
import type { ListenAddress } from '#src/platform/config/index.ts'
import { followMaterial, type KeyMaterial, type TlsOptions } from '#src/platform/security/index.ts'
import type { Connections } from './connections.ts'

const handshakeMsDefault = 10_000

export type GrpcListener = {
  readonly port: number
  /** Takes no new connection; open ones stay. */
  readonly close: () => void
}

export type GrpcListenerOptions = {
  readonly address: ListenAddress
  /** Undefined: plaintext. With an authority in it, clients must have a certificate from that authority. */
  readonly material: KeyMaterial | undefined
  readonly connections: Connections
  readonly accept: (socket: Socket) => void
  readonly handshakeMs?: number | undefined
}

/**
 * Listens and hands each connection to `accept`. The listener is ours, not the library's, so that
 * we can limit connections and exchange certificates. Rejects with `code` EADDRINUSE when the
 * port is taken.
 */
export const listenForGrpc = async (options: GrpcListenerOptions): Promise<GrpcListener> => {
  const { address, material, connections, accept } = options
  if (material === undefined) {
    const server = createPlainServer((socket) => {
      if (connections.admit(socket)) accept(socket)
    })
    return { port: await listening(server, address), close: () => server.close() }
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
  server.on('connection', connections.admit)
  // A handshake fails or takes too long: Bun reports it but leaves the socket open.
  server.on('tlsClientError', (_error, socket) => socket.destroy())
  const unfollow = followMaterial(
    { setSecureContext: (changed) => server.setSecureContext(tlsOptions(changed)) },
    material,
  )
  return {
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
