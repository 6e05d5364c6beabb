import type { ListenAddress } from '../config/index.ts'
import {
  catalogueRoutes,
  createApp,
  createHttpMetrics,
  httpErrors,
  type ListenAt,
  type Listener,
  listen,
  logLevelRoutes,
  type RailRooms,
  type RateLimits,
  type Route,
  railOf,
  systemRoutes,
} from '../http/index.ts'
import { createStallWatch, runningJobs, type StallWatch } from '../jobs/index.ts'
import type { Logger, LogLevel, Metrics } from '../observe/index.ts'
import { inTimeOr } from '../runtime/index.ts'
import type { Authenticator, KeyMaterial, Networks } from '../security/index.ts'
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
  /** Undefined: health, readiness, metrics and documents are on the listeners of payments. */
  readonly admin: ListenAddress | undefined
  /** Undefined: the API Pix is served at `http`. */
  readonly pix?: ListenAddress | undefined
  readonly trustedProxies?: Networks
  /** Undefined: plain HTTP. With an authority in it, clients must have a certificate from that authority. */
  readonly tls?: KeyMaterial | undefined
  /** Whether the admin listener serves TLS too; it asks nobody for a certificate. */
  readonly adminTls?: boolean | undefined
  /** Other processes of ours listen at the same addresses. */
  readonly isShared?: boolean
  /** Tells them from which level on to log. */
  readonly onLogLevel?: ((level: LogLevel) => void) | undefined
  readonly rates?: RateLimits
  /** Room for the requests of each rail; undefined: as many as come. */
  readonly rooms?: RailRooms
  readonly stopTimeoutMs: number
  /** How long it goes on serving, not ready, once it is to stop. */
  readonly drainMs: number
  /** If a loop's work makes no progress for so long, the process is not ready; 0: never. */
  readonly stallMs: number
}

export type GatewayUrls = {
  readonly httpUrl: string
  readonly cardsUrl: string
  /** Undefined without a listener of its own. */
  readonly adminUrl: string | undefined
  readonly pixUrl?: string | undefined
  /** The addresses of features that listen by themselves, by name. */
  readonly featureUrls: Readonly<Record<string, string>>
}

export type Gateway = {
  /**
   * Starts the features, then listens. If one fails, it throws at once; the started ones stop, which `stop` waits for.
   */
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
  const listeners: Listeners = { payments: [], pix: [], admin: [] }
  const close = (those: readonly Listener[]) => closeListeners(those, options.stopTimeoutMs / 2)
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
      // First here, so last to close: it tells those who watch the process to the end that it is not ready.
      { name: 'admin listener', stop: () => close(listeners.admin) },
      { name: 'certificates', start: options.tls?.watch, stop: options.tls?.stop },
      ...features,
      { name: 'progress', start: stalls.start, drain: stalls.stop },
      {
        name: 'listeners',
        start: () => openListeners(options, () => lifecycle.isDraining(), listeners, stalls),
        // Closes with the first, not behind slow drains: running requests need the time, too.
        drain: () => close([...listeners.payments, ...listeners.pix]),
      },
    ],
  })
  return {
    start: async () => {
      await lifecycle.start()
      const { payments, pix, admin } = listeners
      const httpUrl = payments[0]?.url ?? ''
      const cardsUrl = payments[1]?.url ?? httpUrl
      const own = { adminUrl: admin[0]?.url, pixUrl: pix[0]?.url }
      return { httpUrl, cardsUrl, ...own, featureUrls: featureUrls(features) }
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

type Listeners = Readonly<Record<'payments' | 'pix' | 'admin', Listener[]>>

const openListeners = (
  options: GatewayOptions,
  isDraining: () => boolean,
  listeners: Listeners,
  stalls: StallWatch,
): void => {
  const { features, authenticator, metrics, logger, cardsLogger } = options
  const allRoutes = [
    ...features.flatMap((feature) => (feature.listener === 'admin' ? [] : (feature.routes ?? []))),
    ...logLevelRoutes([logger, cardsLogger], options.onLogLevel),
  ]
  const system = systemRoutes({
    version: options.version,
    metrics: options.metricsEnabled ? metrics : undefined,
    authenticator,
    health: createHealthReporter(features, isDraining, stalls),
    routes: () => [...allRoutes, ...system, ...catalogue],
    events: features.flatMap(({ events }) => events ?? []),
  })
  const errors = [httpErrors, ...features.map((feature) => feature.errors ?? {})]
  const catalogue = catalogueRoutes(
    errors.flatMap((each) => Object.values(each)),
    () => allRoutes,
  )
  const httpMetrics = createHttpMetrics(metrics)
  const recordAct = features.find((feature) => feature.recordAct !== undefined)?.recordAct
  const { tls } = options
  const secure = tls && { material: tls, asksClients: true }
  const adminTls = tls && options.adminTls ? { material: tls, asksClients: false } : undefined
  const roomsFor = (route: Route) => {
    const rail = railOf(route)
    return rail && options.rooms?.[rail]
  }
  const appOf = (own: readonly Route[], log = logger) =>
    createApp({
      routes: [...own, ...catalogue],
      authenticator,
      logger: log,
      metrics: httpMetrics,
      trustedProxies: options.trustedProxies,
      rates: options.rates,
      roomsFor,
      recordAct,
      isDraining,
    })
  const open = (own: readonly Route[], at: ListenAt, log = logger) => listen(appOf(own, log), at)
  const { fetch } = appOf([...allRoutes, ...system])
  for (const { reach } of features) reach?.({ fetch, authenticator })
  const routesAt = (at: Feature['listener']) =>
    features.flatMap(({ listener, routes = [] }) => (listener === at ? routes : []))
  const { http, cards, pix, admin, isShared } = options
  const { payments } = listeners
  const forOperators = placesOf(options, system, routesAt('admin'))
  if (admin !== undefined) {
    const at = { address: admin, setting: 'TRILHO_ADMIN_ADDR', tls: adminTls, isShared }
    listeners.admin.push(open(forOperators.admin, at))
  }
  const httpAt = { address: http, setting: 'HTTP_ADDR', tls: secure, isShared }
  const elsewhere = pix === undefined ? [] : routesAt('pix')
  if (pix !== undefined) {
    const at = { address: pix, setting: 'PIX_API_ADDR', tls: secure, isShared }
    listeners.pix.push(open([...elsewhere, ...forOperators.everywhere], at))
  }
  const main = allRoutes.filter((route) => !elsewhere.includes(route))
  if (http.port === cards.port && http.host === cards.host) {
    payments.push(open([...main, ...forOperators.http], httpAt))
    return
  }
  const cardRoutes = routesAt('cards')
  const httpRoutes = main.filter((route) => !cardRoutes.includes(route))
  const cardsAt = { address: cards, setting: 'CARDGW_PORT', tls: secure, isShared }
  payments.push(open([...httpRoutes, ...forOperators.http], httpAt))
  payments.push(open([...cardRoutes, ...forOperators.everywhere], cardsAt, cardsLogger))
}

/**
 * The listeners that serve operators. The console takes payments, so it is on no listener that asks for less than those
 * of payments do: probes come without a certificate, and people may not.
 */
const placesOf = (
  { admin, tls }: GatewayOptions,
  system: readonly Route[],
  pages: readonly Route[],
): Readonly<Record<'everywhere' | 'http' | 'admin', readonly Route[]>> => {
  const all = [...system, ...pages]
  if (admin === undefined) return { everywhere: all, http: all, admin: [] }
  if (tls?.current().ca === undefined) return { everywhere: [], http: [], admin: all }
  return { everywhere: [], http: pages, admin: system }
}

/** Lets running requests end; cuts off those that still run when the time is over (a stream, say). */
const closeListeners = async (listeners: readonly Listener[], graceMs: number): Promise<void> => {
  const graceful = Promise.all(listeners.map((listener) => listener.stop(false)))
  const outcome = await inTimeOr(graceful, graceMs, 'late')
  if (outcome === 'late') await Promise.all(listeners.map((listener) => listener.stop(true)))
}
