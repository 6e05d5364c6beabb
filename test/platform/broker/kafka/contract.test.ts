import { describe, setDefaultTimeout } from 'bun:test'
import { brokerContract } from '../../../contract/broker.contract.ts'
import { isKafkaHere } from '../../../support/kafka.ts'
import { openKafkaBroker } from './support.ts'

/** A Kafka starts, rebalances and comes back in seconds, more of them on a busy machine. */
setDefaultTimeout(120_000)

describe.skipIf(!isKafkaHere)('with a real Kafka', () => {
  brokerContract('Kafka', { open: () => openKafkaBroker(), timeoutMs: 50_000 })
})
