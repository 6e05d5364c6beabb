import type { ListenAddress } from '../config/index.ts'
import {
  createApp,
  createHttpMetrics,
  httpErrors,
  type Listener,
  listen,
  logLevelRoutes,
  type Route,
  systemRoutes,
} from '../http/index.ts'
import { createStallWatch, runningJobs, type StallWatch } from '../jobs/index.ts'
import type { Logger, Metrics } from '../observe/index.ts'
import type { Authenticator } from '../security/index.ts'
import type { Feature } from './feature.ts'
import { createHealthReporter } from './health.ts'
import { createLifecycle } from './lifecycle.ts'

export type GatewayOptions = {
  readonly version: string
  readonly features: readonly Feature[]
  readonly authenticator: Authenticator
  readonly logger: Logger
  readonly cardsLogger: Logger
  readonly metrics: Metrics
  readonly metricsEnabled: boolean
  readonly http: ListenAddress
  /** Equal to `http`: one listener serves both. */
  readonly cards: ListenAddress
  readonly stopTimeoutMs: number
  /** How long it goes on serving, not ready, once it is to stop. */
  readonly drainMs: number
  /** If a loop's work makes no progress for so long, the process is not ready; 0: never. */
  readonly stallMs: number
}

export type GatewayUrls = {
  readonly httpUrl: string
  readonly cardsUrl: string
  /** Of the features that listen by themselves, by name. */
  readonly featureUrls: Readonly<Record<string, string>>
}

export type Gateway = {
  /** Starts the features, then listens. */
  start(): Promise<GatewayUrls>
  /**
   * Serves on for `drainMs` unless nobody is to be waited for; then ends.
   *
   * @returns true when everything ended within the time
   */
  stop(isAtOnce?: boolean): Promise<boolean>
}

/** Puts features behind listeners, with health, metrics and documents, under one life cycle. */
export const createGateway = (options: GatewayOptions): Gateway => {
  const { features, logger } = options
  const listeners: Listener[] = []
  const stalls = createStallWatch({
    loops: () => [...runningJobs(), ...features.flatMap(({ loops }) => loops?.() ?? [])],
    stallMs: options.stallMs,
    logger,
    metrics: options.metrics,
  })
  const lifecycle = createLifecycle({
    logger,
    stopTimeoutMs: options.stopTimeoutMs,
    parts: [
      ...features,
      { name: 'progress', start: stalls.start, drain: stalls.stop },
      {
        name: 'listeners',
        start: () => openListeners(options, () => lifecycle.isDraining(), listeners, stalls),
        stop: () => closeListeners(listeners, options.stopTimeoutMs / 2),
      },
    ],
  })
  return {
    start: async () => {
      await lifecycle.start()
      const httpUrl = listeners[0]?.url ?? ''
      const cardsUrl = listeners[1]?.url ?? httpUrl
      return { httpUrl, cardsUrl, featureUrls: featureUrls(features) }
    },
    stop: (isAtOnce = false) => lifecycle.stop(isAtOnce ? 0 : options.drainMs),
  }
}

const featureUrls = (features: readonly Feature[]): Readonly<Record<string, string>> => {
  const urls: Record<string, string> = {}
  for (const { name, url } of features) {
    const found = url?.()
    if (found !== undefined) urls[name] = found
  }
  return urls
}

const openListeners = (
  options: GatewayOptions,
  isDraining: () => boolean,
  listeners: Listener[],
  stalls: StallWatch,
): void => {
  const { features, authenticator, metrics, logger, cardsLogger } = options
  const allRoutes = [
    ...features.flatMap((feature) => feature.routes ?? []),
    ...logLevelRoutes([logger, cardsLogger]),
  ]
  const system = systemRoutes({
    version: options.version,
    metrics: options.metricsEnabled ? metrics : undefined,
    authenticator,
    health: createHealthReporter(features, isDraining, stalls),
    errors: [httpErrors, ...features.map((feature) => feature.errors ?? {})].flatMap((errors) =>
      Object.values(errors),
    ),
    routes: () => [...allRoutes, ...system],
    events: features.flatMap(({ events }) => events ?? []),
  })
  const httpMetrics = createHttpMetrics(metrics)
  const open = (routes: readonly Route[], address: ListenAddress, log: Logger): void => {
    const app = createApp({
      routes: [...routes, ...system],
      authenticator,
      logger: log,
      metrics: httpMetrics,
      recordAct: features.find((feature) => feature.recordAct !== undefined)?.recordAct,
      isDraining,
    })
    listeners.push(listen(app, address))
  }
  const { http, cards } = options
  if (http.port === cards.port && http.host === cards.host) {
    open(allRoutes, http, logger)
    return
  }
  const cardRoutes = features.flatMap((feature) =>
    feature.listener === 'cards' ? (feature.routes ?? []) : [],
  )
  open(
    allRoutes.filter((route) => !cardRoutes.includes(route)),
    http,
    logger,
  )
  open(cardRoutes, cards, cardsLogger)
}

/** Lets running requests end; cuts off those that still run when the time is over (a stream, say). */
const closeListeners = async (listeners: readonly Listener[], graceMs: number): Promise<void> => {
  const graceful = Promise.all(listeners.map((listener) => listener.stop(false)))
  const grace = Promise.withResolvers<'late'>()
  const timer = setTimeout(() => grace.resolve('late'), graceMs)
  const outcome = await Promise.race([graceful, grace.promise])
  clearTimeout(timer)
  if (outcome === 'late') await Promise.all(listeners.map((listener) => listener.stop(true)))
}
