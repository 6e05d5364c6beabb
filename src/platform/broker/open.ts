import type { Logger, Metrics } from '#src/platform/observe/index.ts'
import {
  type CertificateUse,
  createFileMaterial,
  type KeyMaterial,
  type TlsOptions,
  usedFiles,
} from '#src/platform/security/index.ts'
import type { BrokerSettings } from './config.ts'
import { createKafkaBroker, type KafkaBrokerDeps } from './kafka/index.ts'
import { type Refusals, withOutbox } from './outbox.ts'
import {
  createPostgresBroker,
  type PostgresBrokerDeps,
  type TransactionalBroker,
} from './postgresql/index.ts'
import { tracedBroker } from './traced.ts'
import type { Broker } from './types.ts'

export type OpenBrokerOptions = {
  /** `host:port` of Kafka's brokers; undefined: we keep topics in the database. */
  readonly addresses: readonly string[] | undefined
  readonly settings: BrokerSettings
  /** Undefined: this process publishes nothing within transactions. */
  readonly database: Pick<PostgresBrokerDeps, 'sql' | 'dsn' | 'gate'> | undefined
  /** Called where Kafka refuses what a transaction published. */
  readonly onRefused: Refusals['end']
  readonly logger: Logger
  readonly metrics: Metrics
}

export type OpenedBroker = {
  readonly broker: Broker
  /** The same broker, if there is a database whose transactions can publish. */
  readonly transactional: TransactionalBroker | undefined
  /** The certificates that it connects with. */
  readonly certificates?: readonly CertificateUse[]
}

/**
 * The broker of `serve`: Kafka, with an outbox if there is a database, else the database itself. Undefined if there is
 * neither: memory must not keep messages that we confirm to the central bank.
 */
export const openBroker = (options: OpenBrokerOptions): OpenedBroker | undefined => {
  const { addresses, settings, database, logger, metrics } = options
  if (addresses === undefined) {
    if (database === undefined) return undefined
    const broker = tracedBroker(createPostgresBroker({ ...database, logger, metrics }))
    return { broker, transactional: broker }
  }
  const { partitions, replicas, retentionDays, hasTls } = settings
  const tls = hasTls ? tlsOf(settings, logger) : undefined
  tls?.watch()
  const certificates = usedFiles('broker', tls)
  const kafka = createKafkaBroker({
    cluster: clusterOf(addresses, settings, tls),
    topics: { partitions, replicas, retentionDays },
    logger,
    metrics,
  })
  if (database === undefined) {
    return { broker: tracedBroker(kafka), transactional: undefined, certificates }
  }
  const log = createPostgresBroker({ ...database, logger })
  const refusals = { sql: database.sql, end: options.onRefused }
  const broker = withOutbox({ broker: kafka, log, refusals, logger, metrics })
  return { broker, transactional: broker, certificates }
}

const tlsOf = ({ certificate, key, ca }: BrokerSettings, logger: Logger): KeyMaterial =>
  createFileMaterial({ certificate, key, ca }, (err) =>
    logger.error({ err }, 'new certificates of the broker cannot be used, the old ones stay'),
  )

/** The library reads the members at every connection, so later connections use exchanged material. */
const asOfNow = (material: KeyMaterial): TlsOptions =>
  Object.defineProperties(
    {},
    Object.fromEntries(
      (['cert', 'key', 'ca'] as const).map((name) => [
        name,
        { enumerable: true, get: () => material.current()[name] },
      ]),
    ),
  )

/** How the settings reach Kafka, with TLS if there is material for it. */
export const clusterOf = (
  addresses: readonly string[],
  { saslMechanism, saslUsername, saslPassword }: BrokerSettings,
  tls: KeyMaterial | undefined,
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
