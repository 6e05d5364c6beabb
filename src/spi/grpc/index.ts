import { Server, ServerCredentials } from '@grpc/grpc-js'
import type { Authenticator, Scope } from '#src/platform/auth/index.ts'
import { bodyBytesMaxDefault } from '#src/platform/http/index.ts'
import type { Feature } from '#src/platform/lifecycle/index.ts'
import type { Logger, Metrics } from '#src/platform/telemetry/index.ts'
import type { RunTransform } from '../transform/run.ts'
import { type Calls, createCalls } from './calls.ts'
import { bindAddress, type GrpcSettings, hasTls } from './config.ts'
import { type GrpcListener, listenForGrpc } from './listener.ts'
import { transformationDefinition, transformationHandlers } from './transformation.ts'

export type GrpcDeps = {
  readonly settings: GrpcSettings
  readonly run: RunTransform
  readonly authenticator: Authenticator
  readonly logger: Logger
  readonly metrics: Metrics
  /** How long running calls may go on once the gateway stops. */
  readonly stopGraceMs?: number
}

/** A request and its message, as over HTTP. */
export const messageBytesMax = bodyBytesMaxDefault
/** Calls at once on one connection. */
export const concurrentStreamsMax = 100
/** A silent connection is asked whether it still lives, and closed when nothing comes back. */
const keepaliveMs = 60_000
const keepaliveTimeoutMs = 20_000
/** A connection without calls is closed. */
const idleMs = 300_000
const stopGraceMsDefault = 8_000

const createServer = ({ interceptor }: Calls): Server =>
  new Server({
    interceptors: [interceptor],
    'grpc.enable_channelz': 0,
    'grpc.max_receive_message_length': messageBytesMax,
    'grpc.max_concurrent_streams': concurrentStreamsMax,
    'grpc.keepalive_time_ms': keepaliveMs,
    'grpc.keepalive_timeout_ms': keepaliveTimeoutMs,
    'grpc.max_connection_idle_ms': idleMs,
  })

/** The transformations over gRPC, with the keys and scopes of HTTP. */
export const createGrpc = (deps: GrpcDeps): Feature => {
  const { settings, logger } = deps
  const scopes = new Map<string, Scope | 'public'>(
    Object.values(transformationDefinition).map(({ path }) => [path, 'spi:transform']),
  )
  const calls = createCalls({ ...deps, scopes })
  const server = createServer(calls)
  server.addService(transformationDefinition, transformationHandlers(deps.run, logger))
  let listener: GrpcListener | undefined
  let ended: Promise<void> | undefined

  return {
    name: 'grpc',
    url: () => listener && urlOf(settings, listener.port),
    start: async () => {
      const address = bindAddress(settings)
      const injector = server.createConnectionInjector(ServerCredentials.createInsecure())
      listener = await listenForGrpc(address, (socket) => injector.injectConnection(socket))
      if (address !== settings.address) {
        logger.warn(
          { host: address.host, port: listener.port },
          'gRPC has no TLS and serves this machine only: set GRPC_TLS_CERT_PATH and GRPC_TLS_KEY_PATH',
        )
      }
    },
    drain: () => {
      listener?.close()
      ended = new Promise((resolve) => server.tryShutdown(() => resolve()))
    },
    stop: async () => {
      const timer = setTimeout(calls.cutOff, deps.stopGraceMs ?? stopGraceMsDefault)
      await ended
      clearTimeout(timer)
      server.forceShutdown()
    },
  }
}

const urlOf = (settings: GrpcSettings, port: number): string => {
  const { host = 'localhost' } = bindAddress(settings)
  const name = host === '0.0.0.0' || host === '::' ? 'localhost' : host
  return `${hasTls(settings) ? 'https' : 'http'}://${name.includes(':') ? `[${name}]` : name}:${port}`
}
