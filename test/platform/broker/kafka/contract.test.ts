import { describe } from 'bun:test'
import { brokerContract } from '../../../contract/broker.contract.ts'
import { isKafkaHere } from '../../../support/kafka.ts'
import { openKafkaBroker } from './support.ts'

describe.skipIf(!isKafkaHere)('with a real Kafka', () => {
  brokerContract('Kafka', { open: () => openKafkaBroker(), timeoutMs: 30_000 })
})
