import type { ListenAddress } from '../config/index.ts'
import type { KeyMaterial, TlsOptions } from '../security/index.ts'
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

/** Where to listen, and how. */
export type ListenAt = {
  readonly address: ListenAddress
  /** The name of the setting that the address comes from. */
  readonly setting: string
  /** Undefined: plain HTTP. */
  readonly tls?: ListenTls | undefined
  /** True: other processes of ours listen there too, and the system shares the connections out. */
  readonly isShared?: boolean | undefined
}

type ListenTls = {
  readonly material: KeyMaterial
  /** Whether clients must have a certificate, where the material has an authority for them. */
  readonly asksClients: boolean
}

/** Starts serving. Throws an error that names `setting`, with `code` EADDRINUSE when the port is taken. */
export const listen = (app: App, at: ListenAt): Listener => {
  try {
    return at.tls === undefined ? plain(app, at) : secure(app, at, at.tls)
  } catch (cause) {
    throw notListening(cause, at.address, at.setting)
  }
}

/**
 * Makes sure that nobody listens there, and chooses a port where any will do: for processes that are going to share it.
 *
 * @throws like {@link listen}
 */
export const freePort = async ({ address, setting }: ListenAt): Promise<number> => {
  const nothing = { fetch: async () => new Response(null, { status: 503 }) }
  const listener = listen(nothing, { address, setting })
  await listener.stop(true)
  return listener.port
}

type Server = ReturnType<typeof serve>

const serve = (
  app: App,
  { address, isShared = false }: Pick<ListenAt, 'address' | 'isShared'>,
  tls: Bun.TLSOptions | undefined,
) =>
  Bun.serve({
    ...(address.host === undefined ? {} : { hostname: address.host }),
    ...(tls === undefined ? {} : { tls }),
    port: address.port,
    idleTimeout: idleSeconds,
    maxRequestBodySize: connectionBodyBytesMax,
    development: false,
    // Outside development mode Bun shares ports between processes: nobody would notice a second gateway.
    reusePort: isShared,
    fetch: (request, own) => app.fetch(request, own),
  })

const plain = (app: App, at: ListenAt): Listener => {
  const { address } = at
  const server = serve(app, at, undefined)
  const port = server.port ?? address.port
  return {
    port,
    url: `http://${urlHost(address.host)}:${port}`,
    stop: async (abruptly) => {
      await server.stop(abruptly)
    },
  }
}

/**
 * Bun's server keeps the certificate that it was started with. So another one takes its place on the same port: new
 * connections get the new certificate, and open ones end with the server that they began with.
 */
const secure = (app: App, at: ListenAt, tls: ListenTls): Listener => {
  const { address, isShared } = at
  const optionsOf = (options: TlsOptions) => tlsOptions(options, tls.asksClients)
  let options = optionsOf(tls.material.current())
  let server = serve(app, at, options)
  const port = server.port ?? address.port
  const former = new Set<Server>()
  let retry: Timer | undefined
  const replace = (): void => {
    retry = undefined
    try {
      server = serve(app, { address: { ...address, port }, isShared }, options)
    } catch {
      // Somebody was faster on the free port: we wait for it.
      retry = setTimeout(replace, replaceRetryMs)
    }
  }
  const unfollow = tls.material.onChange((changed) => {
    const next = optionsOf(changed)
    // Throws where the runtime cannot use it: then the old one stays.
    void serve(app, { address: { host: '127.0.0.1', port: 0 } }, next).stop(true)
    options = next
    if (retry !== undefined) return
    const old = server
    former.add(old)
    void old.stop(false).then(() => former.delete(old))
    replace()
  })
  return {
    port,
    url: `https://${urlHost(address.host)}:${port}`,
    stop: async (abruptly) => {
      unfollow()
      clearTimeout(retry)
      await Promise.all([server, ...former].map((one) => one.stop(abruptly)))
    },
  }
}

const replaceRetryMs = 100

const tlsOptions = ({ cert = '', key = '', ca }: TlsOptions, asksClients: boolean) => ({
  cert,
  key,
  ...(ca === undefined || !asksClients ? {} : { ca, requestCert: true, rejectUnauthorized: true }),
})

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
