import type { Client } from '#src/platform/database/index.ts'
import { allowListOf, withMissingSettings } from '#src/platform/http/index.ts'
import type { Feature } from '#src/platform/lifecycle/index.ts'
import type { Logger, Metrics } from '#src/platform/observe/index.ts'
import {
  createFileMaterial,
  institutionDefault,
  type KeyMaterial,
  type Sealer,
  sealedStock,
  usedFiles,
} from '#src/platform/security/index.ts'
import { bookOf } from './book.ts'
import type { WebhookSettings } from './config.ts'
import { createDispatcher } from './dispatcher.ts'
import { eventDocuments } from './documents.ts'
import { webhookErrors } from './errors.ts'
import { createRelay, type EventBroker } from './relay.ts'
import { createWebhookRetention } from './retention.ts'
import { webhookRoutes } from './routes.ts'
import { sealedSecrets } from './secrets.ts'
import { createSender } from './sender.ts'
import { createWebhookService } from './service.ts'
import { createEndpointStore } from './store.ts'

export { webhookSettings } from './config.ts'
export { emitElsewhere, emitEvents, emitWithin } from './events.ts'
export type { EventBroker } from './relay.ts'
export { isKeyLong } from './signing.ts'
export { createTopics } from './topics.ts'

export type WebhooksDeps = {
  /** Undefined: the endpoints answer 503. */
  readonly sql: Client | undefined
  /** Undefined: events go straight from the outbox to deliveries. */
  readonly broker: EventBroker | undefined
  /** Other databases in which we emit events: card transactions may have one of their own. */
  readonly elsewhere?: readonly Client[]
  readonly sealer: Sealer | undefined
  readonly settings: WebhookSettings
  /** False: another process sends what is emitted here. */
  readonly delivers?: boolean
  /** False: another process removes what is old. */
  readonly runsJobs?: boolean
  /** Instead of what the settings name. */
  readonly tls?: KeyMaterial
  /** Accounts of the institution itself. */
  readonly institution?: readonly string[]
  /** Whether an endpoint's own secret must be one that nobody finds by trying. */
  readonly isProduction?: boolean
  readonly version: string
  readonly logger: Logger
  readonly metrics: Metrics
}

/** Sends events to subscribers: we lose none, and no subscriber blocks another. */
export const createWebhooks = (deps: WebhooksDeps): Feature => {
  const { sql, settings, sealer, logger, delivers = true, runsJobs = true } = deps
  const { isProduction = false } = deps
  const allowed = allowListOf(settings.allowedTargets ?? [])
  const timeoutMs = settings.timeoutSeconds * 1000
  // Without a database, every route answers before anything below is called.
  const store = createEndpointStore(sql as Client)
  const tls = deps.tls ?? materialOf(deps)
  const send = createSender({ allowed, timeoutMs, version: deps.version, tls: tls.current })
  const service = createWebhookService({ ...deps, store, send, commonSecret: settings.secret })
  const dispatcher = createDispatcher({
    sql: store.sql,
    send,
    activeEndpoints: service.activeEndpoints,
    concurrencyMax: settings.concurrencyMax,
    timeoutMs,
    deliveries: deps.metrics.counter('spigw_webhook_deliveries_total', 'Webhook deliveries.', [
      'event_type',
      'status',
    ]),
    logger,
  })
  const onDeliveries = (endpoints: readonly string[]): void => {
    service.note(endpoints)
    dispatcher.kick()
  }
  const { broker, elsewhere = [], institution = institutionDefault } = deps
  const relay = createRelay({
    sql: store.sql,
    broker,
    elsewhere,
    institution,
    onDeliveries,
    logger,
  })
  const kick = delivers ? dispatcher.kick : () => {}
  const routes = webhookRoutes({ service, allowed, isProduction, kick })
  const common = { name: 'webhooks', errors: webhookErrors, events: eventDocuments }
  if (sql === undefined) {
    return { ...common, routes: withMissingSettings(routes, ['DATABASE_DSN']) }
  }
  const retention = createWebhookRetention({
    databases: [sql, ...elsewhere],
    days: settings.retentionDays,
    sequenceDays: settings.sequenceDays,
    logger,
  })
  return {
    ...common,
    routes,
    certificates: usedFiles('webhooks', tls),
    loops: () => (delivers ? dispatcher.loops : []),
    book: () => bookOf(sql),
    ...(sealer === undefined
      ? {}
      : {
          sealed: sealedStock(
            'webhook secrets',
            () => sealer,
            () => sealedSecrets(sql),
          ),
        }),
    start: async () => {
      if (runsJobs) for (const job of retention) await job.start()
      // A process that does not deliver tests endpoints with it, and tells of its end.
      tls.watch()
      if (!delivers) return
      await relay.start()
      dispatcher.start()
    },
    drain: async () => {
      tls.stop()
      for (const job of retention) await job.stop()
      await relay.drain()
      await dispatcher.drain()
    },
  }
}

/** Without files, we show no certificate, and trust the public authorities. */
const materialOf = ({ settings: { certificate, key, ca }, logger }: WebhooksDeps): KeyMaterial =>
  createFileMaterial({ certificate, key, ca }, (err) =>
    logger.error({ err }, 'the new certificate for webhooks cannot be used, the old one stays'),
  )
