import {
  defineSettings,
  kind,
  type SettingProblem,
  type SettingValues,
  setting,
} from '../config/index.ts'
import { keyFileProblems } from '../security/index.ts'
import { partitionCount } from './partition.ts'

/** Topics, and how we reach Kafka if `BROKER_ADDRESSES` names one. */
export const brokerSettings = defineSettings({
  retentionDays: setting('TRILHO_BROKER_RETENTION_DAYS', kind.integer(1, 365), {
    default: '7',
    doc: 'Days a dead letter is kept in PostgreSQL (with which a payment, return or request about a mandate or charge FAILED, until somebody retries or drops it), and any message in topics made in Kafka, read or not. What waits in PostgreSQL is kept until it is handled.',
  }),
  partitions: setting('TRILHO_BROKER_PARTITIONS', kind.integer(1, 1_000), {
    default: String(partitionCount),
    doc: 'Kafka: partitions of a topic that is made because it is not there; the most processes that can share its work.',
  }),
  replicas: setting('TRILHO_BROKER_REPLICAS', kind.integer(1, 15), {
    doc: 'Kafka: replicas of such a topic; the cluster\u2019s default when not set.',
  }),
  hasTls: setting('TRILHO_BROKER_TLS', kind.boolean(), {
    default: 'false',
    doc: 'Kafka: connects with TLS.',
  }),
  ca: setting('TRILHO_BROKER_CA_PATH', kind.pem(), {
    doc: 'Kafka: authorities its certificates come from; those of the system when not set.',
  }),
  certificate: setting('TRILHO_BROKER_CERT_PATH', kind.pem(), {
    doc: 'Kafka: client certificate, where it asks for one.',
  }),
  key: setting('TRILHO_BROKER_KEY_PATH', kind.pem(), {
    doc: 'Kafka: private key of that certificate.',
  }),
  saslMechanism: setting(
    'TRILHO_BROKER_SASL_MECHANISM',
    kind.oneOf('PLAIN', 'SCRAM-SHA-256', 'SCRAM-SHA-512'),
    { doc: 'Kafka: how the process signs in; it does not when not set.' },
  ),
  saslUsername: setting('TRILHO_BROKER_SASL_USERNAME', kind.text(), { doc: 'Kafka: user name.' }),
  saslPassword: setting('TRILHO_BROKER_SASL_PASSWORD', kind.secret(), {
    doc: 'Kafka: its password.',
  }),
})

export type BrokerSettings = SettingValues<typeof brokerSettings>

/** Problems that involve several settings: which of them need one another. */
export const brokerProblems = (settings: BrokerSettings): readonly SettingProblem[] => {
  const { hasTls, ca, certificate, key, saslMechanism, saslUsername, saslPassword } = settings
  const needs = (isLone: boolean, name: string, other: string): readonly SettingProblem[] =>
    isLone
      ? [
          {
            name,
            value: '***',
            problem: `is set, but ${other} is not`,
            expected: 'both or none',
            fix: `set ${other} too`,
          },
        ]
      : []
  const [certName, keyName] = ['TRILHO_BROKER_CERT_PATH', 'TRILHO_BROKER_KEY_PATH']
  const [hasCert, hasKey] = [certificate !== undefined, key !== undefined]
  const [mechanism, password] = ['TRILHO_BROKER_SASL_MECHANISM', 'TRILHO_BROKER_SASL_PASSWORD']
  const isSigningIn = saslMechanism !== undefined
  return [
    ...needs(hasCert && !hasKey, certName, keyName),
    ...needs(hasKey && !hasCert, keyName, certName),
    ...needs(!hasTls && ca !== undefined, 'TRILHO_BROKER_CA_PATH', 'TRILHO_BROKER_TLS'),
    ...needs(!hasTls && hasCert, certName, 'TRILHO_BROKER_TLS'),
    ...needs(isSigningIn && saslUsername === undefined, mechanism, 'TRILHO_BROKER_SASL_USERNAME'),
    ...needs(isSigningIn && saslPassword === undefined, mechanism, password),
    ...needs(!isSigningIn && saslPassword !== undefined, password, mechanism),
    ...(hasCert && hasKey
      ? keyFileProblems(
          { certificate, key, ca },
          { name: certName, value: '***' },
          `set ${certName} and ${keyName} to a certificate and its key`,
        )
      : []),
  ]
}
