import type { Client } from '#src/platform/database/index.ts'
import type { Logger, Metrics } from '#src/platform/telemetry/index.ts'
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
  const { partitions, replicas } = settings
  const broker = createKafkaBroker({
    cluster: clusterOf(addresses, settings),
    topics: { partitions, replicas, retentionDays },
    logger,
    metrics,
  })
  const log = createPostgresBroker({ sql, dsn, retentionDays, logger })
  return withOutbox({ broker, log, logger, metrics })
}

/** How the settings say that Kafka is reached. */
export const clusterOf = (
  addresses: readonly string[],
  settings: BrokerSettings,
): KafkaBrokerDeps['cluster'] => {
  const { hasTls, ca, certificate, key, saslMechanism, saslUsername, saslPassword } = settings
  return {
    addresses,
    clientId: 'trilho',
    ...(hasTls
      ? {
          tls: {
            ...(ca === undefined ? {} : { ca: ca.text }),
            ...(certificate === undefined ? {} : { cert: certificate.text }),
            ...(key === undefined ? {} : { key: key.text }),
          },
        }
      : {}),
    ...(saslMechanism === undefined
      ? {}
      : {
          sasl: {
            mechanism: saslMechanism,
            username: saslUsername ?? '',
            password: saslPassword ?? '',
          },
        }),
  }
}
