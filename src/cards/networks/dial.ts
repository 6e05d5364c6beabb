import { checkServerIdentity, type PeerCertificate } from 'node:tls'
import type { Socket } from 'bun'
import type { KeyMaterial } from '#src/platform/security/index.ts'

type Peer = {
  readonly host: string
  readonly port: number
  readonly tls?: Pick<KeyMaterial, 'current'> | undefined
}

type Listener = {
  /** Called before any other event of the socket, in the same turn. */
  readonly open: (socket: Socket<undefined>) => void
  readonly data: (socket: Socket<undefined>, chunk: Uint8Array) => void
  readonly drain: (socket: Socket<undefined>) => void
  readonly close: (socket: Socket<undefined>) => void
}

/**
 * Connects and, with TLS, waits for a handshake with a peer whose certificate is trusted and names the host.
 * The listener hears only of the socket that it was given.
 *
 * @throws Error whose message says why not; within `timeoutMs`
 */
export const dial = (
  { host, port, tls }: Peer,
  timeoutMs: number,
  listener: Listener,
): Promise<Socket<undefined>> => {
  const { promise, resolve, reject } = Promise.withResolvers<Socket<undefined>>()
  let isSettled = false
  /** The peer may be silent before there is a connection to give away. */
  let opened: Socket<undefined> | undefined
  let isGiven = false
  const fail = (error: Error, socket?: Socket<undefined>): void => {
    if (!isSettled) {
      isSettled = true
      clearTimeout(timer)
      reject(error)
    }
    // Last, because it reports the end, which is not the reason.
    socket?.terminate()
  }
  const succeed = (socket: Socket<undefined>): void => {
    if (isSettled) {
      socket.terminate()
      return
    }
    isSettled = true
    clearTimeout(timer)
    isGiven = true
    listener.open(socket)
    resolve(socket)
  }
  const timer = setTimeout(() => fail(new Error('no connection in time'), opened), timeoutMs)
  Bun.connect<undefined>({
    hostname: host,
    port,
    ...(tls === undefined
      ? {}
      : { tls: { ...tls.current(), serverName: host, rejectUnauthorized: true } }),
    socket: {
      open: (socket) => {
        opened = socket
        socket.setNoDelay(true)
        if (tls === undefined || isSettled) succeed(socket)
      },
      handshake: (socket, isDone, authorizationError) => {
        const refusal = isDone
          ? (authorizationError ?? identityError(host, socket))
          : (authorizationError ?? new Error('the TLS handshake failed'))
        if (refusal) fail(refusal, socket)
        else succeed(socket)
      },
      data: listener.data,
      drain: listener.drain,
      close: (socket) => {
        fail(new Error('the connection was closed'))
        if (isGiven) listener.close(socket)
      },
      error: (_, error) => fail(error),
      connectError: (_, error) => fail(error),
    },
  }).catch((error: unknown) => fail(error instanceof Error ? error : new Error('cannot connect')))
  return promise
}

const identityError = (host: string, socket: Socket<undefined>): Error | undefined =>
  checkServerIdentity(host, socket.getPeerCertificate() as unknown as PeerCertificate)
