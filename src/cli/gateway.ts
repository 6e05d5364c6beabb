import type { PlatformSettings } from '#src/platform/config/index.ts'
import { createRailRooms, createRateLimits, type DrawTokens } from '#src/platform/http/index.ts'
import {
  createGateway,
  type Feature,
  type Gateway,
  type GatewayUrls,
} from '#src/platform/lifecycle/index.ts'
import { createMetrics, type Logger } from '#src/platform/observe/index.ts'
import {
  createAuthenticator,
  createKeyFileSource,
  type KeySource,
  listenerMaterial,
  networksOf,
  type TokenSource,
} from '#src/platform/security/index.ts'
import type { LoadedProgram, Program } from './program.ts'
import type { Crew } from './workers/crew.ts'

export type BuiltGateway = { readonly gateway: Gateway; readonly features: readonly Feature[] }

/** The features behind their listeners, not started yet. */
export const buildGateway = (
  program: Program,
  loaded: LoadedProgram,
  logger: Logger,
  cardsLogger: Logger,
  crew?: Crew,
): BuiltGateway => {
  const { platform } = loaded
  const metrics = createMetrics({ version: program.version, withProcess: platform.metricsEnabled })
  // Features need the authenticator, and some of them are sources of its keys.
  const sources: KeySource[] = []
  const tokens: TokenSource[] = []
  const authenticator = createAuthenticator({
    sources,
    tokens,
    refused: platform.environment === 'production' ? 'test' : 'live',
    institution: platform.institutionAccounts,
  })
  const { rates, shareBy } = ratesOf(platform, logger)
  const rooms = createRailRooms(metrics, {
    spi: platform.concurrencySpi,
    cards: platform.concurrencyCards,
    drex: platform.concurrencyDrex,
  })
  const tls = listenerMaterial(platform, (err) => {
    logger.error({ err }, 'the new certificate of HTTP cannot be used, the old one stays')
  })
  const own = loaded.createFeatures({
    tls,
    logger,
    cardsLogger,
    metrics,
    version: program.version,
    authenticator,
    rates,
    rooms,
  })
  const features = crew === undefined ? own : [...own, crew.feature]
  shareBy(features)
  sources.push(...keySources(platform, features, logger))
  tokens.push(
    ...features.flatMap(({ tokenSource }) => (tokenSource === undefined ? [] : [tokenSource])),
  )
  const gateway = createGateway({
    version: program.version,
    features,
    authenticator,
    logger,
    cardsLogger,
    metrics: crew === undefined ? metrics : crew.share(metrics),
    isShared: crew !== undefined,
    onLogLevel: crew?.shareLevel([logger, cardsLogger]),
    metricsEnabled: platform.metricsEnabled,
    http: platform.httpAddr,
    cards: { host: platform.httpAddr.host, port: platform.cardgwPort },
    admin: platform.adminAddr,
    pix: platform.pixAddr,
    trustedProxies: networksOf(platform.trustedProxies ?? []),
    tls,
    adminTls: platform.adminTls,
    rates,
    rooms,
    stopTimeoutMs: platform.stopTimeoutSeconds * 1000,
    drainMs: platform.drainSeconds * 1000,
    stallMs: platform.stallSeconds * 1000,
  })
  return { gateway, features }
}

/** The limits of callers, shared with other processes as soon as the features that can share them are there. */
const ratesOf = ({ ratePerKey, ratePerAccount }: PlatformSettings, logger: Logger) => {
  let drawTokens: DrawTokens | undefined
  const limitOf = (perSecond: number) => (perSecond === 0 ? undefined : perSecond)
  const rates = createRateLimits({
    settings: { key: limitOf(ratePerKey), account: limitOf(ratePerAccount) },
    draw: () => drawTokens,
    logger,
  })
  const shareBy = (features: readonly Feature[]): void => {
    drawTokens = features.find((feature) => feature.drawTokens !== undefined)?.drawTokens
  }
  return { rates, shareBy }
}

/** Further addresses besides `httpUrl`, as they are shown: `{cards_url: …, grpc_url: …}`. */
export const namedUrls = (urls: GatewayUrls): Record<string, string> => {
  const { cardsUrl: cards, adminUrl: admin, pixUrl: pix, featureUrls } = urls
  const own = { ...(admin === undefined ? {} : { admin }), ...(pix === undefined ? {} : { pix }) }
  const all = { cards, ...own, ...featureUrls }
  return Object.fromEntries(Object.entries(all).map(([name, url]) => [`${name}_url`, url]))
}

const keySources = (
  { apiKeysFile }: PlatformSettings,
  features: readonly Feature[],
  logger: Logger,
): readonly KeySource[] => {
  const onProblem = (err: unknown): void => logger.error({ err }, 'the key file cannot be read')
  const sources: readonly KeySource[] = [
    ...(apiKeysFile === undefined ? [] : [createKeyFileSource({ path: apiKeysFile, onProblem })]),
    ...features.flatMap(({ keySource }) => (keySource === undefined ? [] : [keySource])),
  ]
  if (sources.length === 0) {
    logger.warn({}, 'no source of API keys is configured: every protected endpoint answers 401')
  }
  return sources
}
