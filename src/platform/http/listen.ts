import type { ListenAddress } from '../config/index.ts'
import type { App } from './app.ts'

export type Listener = {
  readonly url: string
  readonly port: number
  /** Takes no new connection, lets running requests end; `true` cuts them off. */
  stop(abruptly: boolean): Promise<void>
}

/** Larger than every route's own limit; Bun cuts the connection of a larger body. */
const connectionBodyBytesMax = 67_108_864
const idleSeconds = 120

/** Starts serving. Throws an error that names `setting`, with `code` EADDRINUSE when the port is taken. */
export const listen = (app: App, address: ListenAddress, setting: string): Listener => {
  try {
    return open(app, address)
  } catch (cause) {
    throw notListening(cause, address, setting)
  }
}

const open = (app: App, address: ListenAddress): Listener => {
  const server = Bun.serve({
    ...(address.host === undefined ? {} : { hostname: address.host }),
    port: address.port,
    idleTimeout: idleSeconds,
    maxRequestBodySize: connectionBodyBytesMax,
    development: false,
    // Outside development mode Bun shares ports between processes: nobody would notice a second gateway.
    reusePort: false,
    fetch: (request, own) => app.fetch(request, own),
  })
  const port = server.port ?? address.port
  return {
    port,
    url: `http://${urlHost(address.host)}:${port}`,
    stop: async (abruptly) => {
      await server.stop(abruptly)
    },
  }
}

/** The error for a listener that cannot be opened: setting, place and reason in one line; keeps `code`. */
export const notListening = (
  cause: unknown,
  { host, port }: ListenAddress,
  setting: string,
): Error => {
  const { code, message } = cause as { readonly code?: unknown; readonly message?: unknown }
  const reason = code === 'EADDRINUSE' ? 'it is in use' : message
  const place = `${host ?? 'all interfaces'}, port ${port}`
  const error = new Error(`${setting}: cannot listen on ${place}: ${reason}`)
  return Object.assign(error, { code })
}

/** Where a client on this machine reaches the listener. */
const urlHost = (host: string | undefined): string => {
  if (host === undefined || host === '0.0.0.0' || host === '::') return 'localhost'
  return host.includes(':') ? `[${host}]` : host
}
