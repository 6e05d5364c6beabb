import type { Environment } from '#src/platform/config/index.ts'
import type { DevState } from './state.ts'

const loopback = '127.0.0.1'
const preferredPort = 8080
const preferredGrpcPort = 9090

export type DevEnvironment = {
  readonly env: Environment
  /** What was changed against the defaults, for the user. */
  readonly notes: readonly string[]
}

/**
 * The settings of `dev`: everything on this machine, reachable from this machine only. What the
 * user set stays as it is.
 */
export const devEnvironment = (
  given: Environment,
  { keyFile, masterKey }: Pick<DevState, 'keyFile' | 'masterKey'>,
  databaseUrl: string | undefined,
): DevEnvironment => {
  const notes: string[] = []
  const defaults: Record<string, string> = {}
  if (!isSet(given, 'HTTP_ADDR')) {
    const port = freePort(preferredPort)
    if (port !== preferredPort) notes.push(`port ${preferredPort} is busy: using ${port}`)
    defaults['HTTP_ADDR'] = `${loopback}:${port}`
  }
  if (!isSet(given, 'CARDGW_PORT')) {
    const address = given['HTTP_ADDR'] || defaults['HTTP_ADDR'] || ''
    defaults['CARDGW_PORT'] = address.slice(address.lastIndexOf(':') + 1)
  }
  if (!isSet(given, 'GRPC_ADDR')) {
    const port = freePort(preferredGrpcPort)
    if (port !== preferredGrpcPort) {
      notes.push(`port ${preferredGrpcPort} is busy: using ${port} for gRPC`)
    }
    defaults['GRPC_ADDR'] = `${loopback}:${port}`
  }
  if (!isSet(given, 'GRPC_REFLECTION_ENABLED')) defaults['GRPC_REFLECTION_ENABLED'] = 'true'
  if (!isSet(given, 'API_KEYS_FILE')) defaults['API_KEYS_FILE'] = keyFile
  if (databaseUrl !== undefined) defaults['DATABASE_DSN'] = databaseUrl
  if (!isSet(given, 'TRILHO_MASTER_KEY') && !isSet(given, 'TRILHO_MASTER_KEY_FILE')) {
    defaults['TRILHO_MASTER_KEY'] = masterKey
  }
  if (!isSet(given, 'SPI_AUTO_ACCEPT')) defaults['SPI_AUTO_ACCEPT'] = 'true'
  if (!isSet(given, 'LOG_LEVEL')) defaults['LOG_LEVEL'] = 'warn'
  if (!isSet(given, 'CARDGW_LOG_LEVEL')) defaults['CARDGW_LOG_LEVEL'] = 'warn'
  return { env: { ...given, ...defaults }, notes }
}

export const isSet = (env: Environment, name: string): boolean => (env[name] ?? '') !== ''

/** The preferred port when nothing listens there, else one the system picks. */
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
