import type { Client } from '#src/platform/database/index.ts'
import type { Logger, Metrics } from '#src/platform/telemetry/index.ts'
import { createTlsMaterial, type TlsMaterial, type TlsOptions } from '#src/platform/tls/index.ts'
import type { BrokerSettings } from './config.ts'
import { createKafkaBroker, type KafkaBrokerDeps } from './kafka/index.ts'
import { withOutbox } from './outbox.ts'
import { createPostgresBroker, type TransactionalBroker } from './postgresql/index.ts'
import { tracedBroker } from './traced.ts'

export type OpenBrokerOptions = {
  /** `host:port` of Kafka's brokers; undefined: topics are kept in the database. */
  readonly addresses: readonly string[] | undefined
  readonly settings: BrokerSettings
  readonly sql: Client
  readonly dsn: string
  readonly logger: Logger
  readonly metrics: Metrics
}

/** The broker of `serve`: Kafka with an outbox in the database where there is one, else the database itself. */
export const openBroker = (options: OpenBrokerOptions): TransactionalBroker => {
  const { addresses, settings, sql, dsn, logger, metrics } = options
  const { retentionDays } = settings
  if (addresses === undefined) {
    return tracedBroker(createPostgresBroker({ sql, dsn, retentionDays, logger, metrics }))
  }
  const { partitions, replicas, hasTls } = settings
  const tls = hasTls ? tlsOf(settings, logger) : undefined
  tls?.watch()
  const broker = createKafkaBroker({
    cluster: clusterOf(addresses, settings, tls),
    topics: { partitions, replicas, retentionDays },
    logger,
    metrics,
  })
  const log = createPostgresBroker({ sql, dsn, retentionDays, logger })
  return withOutbox({ broker, log, logger, metrics })
}

const tlsOf = ({ certificate, key, ca }: BrokerSettings, logger: Logger): TlsMaterial =>
  createTlsMaterial({ certificate, key, ca }, (err) =>
    logger.error({ err }, 'new certificates of the broker cannot be used, the old ones stay'),
  )

/** The library reads the members at every connection: later ones show what was exchanged meanwhile. */
const asOfNow = (material: TlsMaterial): TlsOptions =>
  Object.defineProperties(
    {},
    Object.fromEntries(
      (['cert', 'key', 'ca'] as const).map((name) => [
        name,
        { enumerable: true, get: () => material.current()[name] },
      ]),
    ),
  )

/** How the settings say that Kafka is reached, with TLS where there is material for it. */
export const clusterOf = (
  addresses: readonly string[],
  { saslMechanism, saslUsername, saslPassword }: BrokerSettings,
  tls: TlsMaterial | undefined,
): KafkaBrokerDeps['cluster'] => ({
  addresses,
  clientId: 'trilho',
  ...(tls === undefined ? {} : { tls: asOfNow(tls) }),
  ...(saslMechanism === undefined
    ? {}
    : {
        sasl: {
          mechanism: saslMechanism,
          username: saslUsername ?? '',
          password: saslPassword ?? '',
        },
      }),
})
