import type { Environment } from '#src/platform/config/index.ts'
import type { DevState } from './state.ts'

const loopback = '127.0.0.1'
const preferredPort = 8080
const preferredGrpcPort = 9090

export type DevEnvironment = {
  readonly env: Environment
  /** Tells the user what differs from the defaults. */
  readonly notes: readonly string[]
}

/**
 * The settings of `dev`: everything on this machine, reachable from this machine only. Settings of the user stay as
 * they are.
 */
export const devEnvironment = (
  given: Environment,
  { keyFile, masterKey }: Pick<DevState, 'keyFile' | 'masterKey'>,
  databaseUrl: string | undefined,
): DevEnvironment => {
  const notes: string[] = []
  const address = (name: string, preferred: number, use: string): string => {
    if (isSet(given, name)) return given[name] ?? ''
    const port = freePort(preferred)
    if (port !== preferred) notes.push(`port ${preferred} is busy: using ${port}${use}`)
    return `${loopback}:${port}`
  }
  const http = address('HTTP_ADDR', preferredPort, '')
  const hasRsfnKeys = Object.keys(given).some((name) => name.startsWith('RSFN_'))
  const defaults: Environment = {
    HTTP_ADDR: http,
    CARDGW_PORT: http.slice(http.lastIndexOf(':') + 1),
    GRPC_ADDR: address('GRPC_ADDR', preferredGrpcPort, ' for gRPC'),
    GRPC_REFLECTION_ENABLED: 'true',
    API_KEYS_FILE: keyFile,
    DATABASE_DSN: databaseUrl,
    TRILHO_MASTER_KEY: isSet(given, 'TRILHO_MASTER_KEY_FILE') ? undefined : masterKey,
    SPI_AUTO_ACCEPT: 'true',
    // The host of charges' codes, and the demonstration's certificate, which signs what stands there.
    PIX_LOCATION_HOST: locationOf(http),
    PIX_SIGNING_KID: '12345678.QRC.1',
    RSFN_KEY_SOURCE: databaseUrl === undefined || hasRsfnKeys ? undefined : 'store',
    LOG_LEVEL: 'warn',
    CARDGW_LOG_LEVEL: 'warn',
    CARDGW_LOG_FORMAT: 'text',
  }
  const missing = Object.entries(defaults).filter(
    ([name, value]) => value !== undefined && !isSet(given, name),
  )
  return { env: { ...given, ...Object.fromEntries(missing) }, notes }
}

/** The address in a charge's code; an address of every interface, or one that a code cannot hold, becomes localhost. */
const locationOf = (address: string): string => {
  const portAt = address.lastIndexOf(':')
  const host = address.slice(0, portAt).toLowerCase()
  const isSayable = /^[a-z0-9.-]{1,32}$/.test(host) && host !== '0.0.0.0'
  return `${isSayable ? host : 'localhost'}${address.slice(portAt)}`
}

export const isSet = (env: Environment, name: string): boolean => (env[name] ?? '') !== ''

/** The preferred port when it is free; otherwise one that the system picks. */
const freePort = (preferred: number): number => {
  try {
    return probe(preferred)
  } catch {
    return probe(0)
  }
}

const probe = (port: number): number => {
  const listener = Bun.listen({ hostname: loopback, port, socket: { data: () => {} } })
  const taken = listener.port
  listener.stop(true)
  return taken
}

/** Each attempt looks for ports anew: so many collisions with another `dev` in a row are no accident. */
export const portAttemptsMax = 5

/**
 * Tries `start` again when a port is taken. Another process, such as a second `dev`, may take a port between the
 * moment we find it free and the moment we listen on it.
 *
 * @throws what the last attempt threw; at once, any error that has nothing to do with ports
 */
export const whilePortsAreTaken = async <T>(start: () => Promise<T>): Promise<T> => {
  for (let attempt = 1; ; attempt++) {
    try {
      return await start()
    } catch (error) {
      const { code } = error as { readonly code?: unknown }
      if (code !== 'EADDRINUSE' || attempt === portAttemptsMax) throw error
    }
  }
}
