import type { Socket } from 'node:net'
import { Server, ServerCredentials, type ServiceDefinition } from '@grpc/grpc-js'
import {
  bodyBytesMaxDefault,
  notListening,
  type RateLimits,
  type RecordAct,
  type Rooms,
} from '#src/platform/http/index.ts'
import type { Feature } from '#src/platform/lifecycle/index.ts'
import type { Logger, Metrics } from '#src/platform/observe/index.ts'
import { inTimeOr } from '#src/platform/runtime/index.ts'
import {
  type Authenticator,
  hasTls,
  listenerMaterial,
  type Networks,
  type Scope,
  usedFiles,
} from '#src/platform/security/index.ts'
import type { RunTransform } from '../transform/run.ts'
import { createBursts } from './bursts.ts'
import { type Calls, createCalls } from './calls.ts'
import { bindAddress, type GrpcSettings } from './config.ts'
import { createConnections } from './connections.ts'
import { createHealth, healthDefinition, healthService } from './health.ts'
import { type GrpcListener, listenForGrpc } from './listener.ts'
import { reflectionDefinitions, reflectionHandlers, reflectionServices } from './reflection.ts'
import {
  transformationDefinition,
  transformationHandlers,
  transformationService,
} from './transformation.ts'

const pathsOf = (definition: ServiceDefinition): readonly string[] =>
  Object.values(definition).map(({ path }) => path)

export type GrpcDeps = {
  readonly settings: GrpcSettings
  readonly run: RunTransform
  readonly authenticator: Authenticator
  readonly logger: Logger
  readonly metrics: Metrics
  /** Undefined without a database. */
  readonly recordAct?: RecordAct | undefined
  readonly trustedProxies?: Networks | undefined
  readonly rates?: RateLimits | undefined
  readonly rooms?: Rooms | undefined
  /** Limit for the whole gateway to stop; calls may go on through the first half, like HTTP requests. */
  readonly stopTimeoutMs: number
  readonly connectionsMax?: number | undefined
  /** How long a client may take for its part of the TLS handshake. */
  readonly handshakeMs?: number | undefined
  readonly times?: Partial<ConnectionTimes> | undefined
}

export type ConnectionTimes = {
  /** After so long a silence we ask whether a connection still lives, … */
  readonly keepaliveMs: number
  /** … and close it when nothing comes back within this. */
  readonly keepaliveTimeoutMs: number
  /** We close a connection that has had no calls for so long. */
  readonly idleMs: number
  /** Once we have closed our half of a connection, its other end has so long to close its own. */
  readonly halfClosedMs: number
}

/** A request and its message, as over HTTP. */
export const messageBytesMax = bodyBytesMaxDefault
/** Connections at once, in a process. */
const connectionsMax = 1_000
/** Calls at once on one connection. */
export const concurrentStreamsMax = 100
/** Calls that begin at once: a client keeps to those above until it hears from us, but for those that it cancels. */
export const burstCallsMax = 4 * concurrentStreamsMax
const timesDefault: ConnectionTimes = {
  keepaliveMs: 60_000,
  keepaliveTimeoutMs: 20_000,
  idleMs: 300_000,
  halfClosedMs: 5_000,
}
/** How long clients have to take their last statuses and close, once no call runs. */
const closeMs = 500

const services = [transformationService, healthService, ...reflectionServices]

const streams: ReadonlySet<string> = new Set(
  Object.values(transformationDefinition)
    .filter(({ requestStream, responseStream }) => requestStream || responseStream)
    .map(({ path }) => path),
)

/** The scope that a key needs for each method. */
const scopesOf = ({ reflectionEnabled }: GrpcSettings) =>
  new Map<string, Scope | 'public'>([
    ...pathsOf(transformationDefinition).map((path) => [path, 'spi:transform'] as const),
    ...pathsOf(healthDefinition).map((path) => [path, 'public'] as const),
    ...(reflectionEnabled
      ? reflectionDefinitions.flatMap(pathsOf).map((path) => [path, 'public'] as const)
      : []),
  ])

const createServer = ({ interceptor }: Calls, times: ConnectionTimes): Server => {
  const { keepaliveMs, keepaliveTimeoutMs, idleMs } = times
  const server = new Server({
    interceptors: [interceptor],
    'grpc.enable_channelz': 0,
    'grpc.max_receive_message_length': messageBytesMax,
    'grpc.max_concurrent_streams': concurrentStreamsMax,
    'grpc.keepalive_time_ms': keepaliveMs,
    'grpc.keepalive_timeout_ms': keepaliveTimeoutMs,
    'grpc.max_connection_idle_ms': idleMs,
  })
  handUnknownOver(server)
  return server
}

type Finder = { _retrieveHandler(path: string): object | null }

/**
 * The library answers a method that it does not know by itself. With this handler the call reaches the interceptor,
 * which answers, counts and logs it.
 */
const handUnknownOver = (server: Server): void => {
  const finder = server as unknown as Finder
  const find = finder._retrieveHandler.bind(server)
  const same = (bytes: Buffer): Buffer => bytes
  const nobody = { type: 'unary', func: () => {}, serialize: same, deserialize: same, path: '' }
  finder._retrieveHandler = (path) => find(path) ?? nobody
}

/** The transformations over gRPC, with the keys and scopes of HTTP. */
export const createGrpc = (deps: GrpcDeps): Feature => {
  const { settings, logger } = deps
  const material = listenerMaterial(settings, (err) => {
    logger.error({ err }, 'the new certificate of gRPC cannot be used, the old one stays')
  })
  const health = createHealth([transformationService])
  const times = { ...timesDefault, ...deps.times }
  const connections = createConnections(
    deps.connectionsMax ?? connectionsMax,
    times.halfClosedMs,
    deps,
  )
  const { know, flooded } = connections
  const mayBegin = createBursts(burstCallsMax, flooded)
  const calls = createCalls({ ...deps, scopes: scopesOf(settings), streams, know, mayBegin })
  const server = createServer(calls, times)
  server.addService(transformationDefinition, transformationHandlers(deps.run, logger))
  server.addService(healthDefinition, health.handlers)
  if (settings.reflectionEnabled) {
    const handlers = reflectionHandlers(services)
    for (const definition of reflectionDefinitions) server.addService(definition, handlers)
  }
  let listener: GrpcListener | undefined
  let askToGo = (_withinMs: number): void => {}
  let graceEndMs = 0

  return {
    name: 'grpc',
    certificates: usedFiles('grpc', material),
    url: () => listener && urlOf(settings, listener.port),
    start: async () => {
      const address = bindAddress(settings)
      const injector = server.createConnectionInjector(ServerCredentials.createInsecure())
      askToGo = (withinMs) => injector.drain(withinMs)
      const accept = (socket: Socket): void => injector.injectConnection(socket)
      const { handshakeMs } = deps
      const opening = listenForGrpc({ address, material, connections, accept, handshakeMs })
      listener = await opening.catch((cause: unknown) => {
        throw notListening(cause, address, 'GRPC_ADDR')
      })
      material?.watch()
      if (address !== settings.address) {
        logger.warn(
          { host: address.host, port: listener.port },
          'gRPC has no TLS and serves this machine only: set GRPC_TLS_CERT_PATH and GRPC_TLS_KEY_PATH',
        )
      }
    },
    // Tells every client to go (GOAWAY); who connects anew is served.
    leave: (withinMs) => {
      health.stopServing()
      askToGo(withinMs + deps.stopTimeoutMs)
    },
    // The same for those that came since; running calls may end.
    drain: () => {
      graceEndMs = performance.now() + deps.stopTimeoutMs / 2
      listener?.close()
      health.stopServing()
      // On Bun its callback comes at once and says nothing, so we wait for calls and connections ourselves.
      server.tryShutdown(() => {})
    },
    stop: async () => {
      material?.stop()
      const isIdle = await within(calls.idle(), Math.max(0, graceEndMs - performance.now()))
      if (!isIdle) calls.cutOff()
      await within(connections.closed(), closeMs)
      connections.destroy()
      server.forceShutdown()
    },
  }
}

/** Resolves to true if it happened in time. */
const within = (event: Promise<void>, timeoutMs: number): Promise<boolean> =>
  inTimeOr(
    event.then(() => true),
    timeoutMs,
    false,
  )

const urlOf = (settings: GrpcSettings, port: number): string => {
  const { host = 'localhost' } = bindAddress(settings)
  const name = host === '0.0.0.0' || host === '::' ? 'localhost' : host
  return `${hasTls(settings) ? 'https' : 'http'}://${name.includes(':') ? `[${name}]` : name}:${port}`
}
