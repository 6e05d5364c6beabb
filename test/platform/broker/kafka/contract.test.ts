import { describe, setDefaultTimeout } from 'bun:test'
import { type Delivery, topics } from '#src/platform/broker/index.ts'
import { brokerContract } from '../../../contract/broker.contract.ts'
import { isKafkaHere } from '../../../support/kafka.ts'
import { openKafkaBroker } from './support.ts'

/** A Kafka starts, rebalances and comes back in seconds, more of them on a busy machine. */
setDefaultTimeout(120_000)

describe.skipIf(!isKafkaHere)('with a real Kafka', () => {
  brokerContract('Kafka', {
    open: () => openKafkaBroker(),
    letters: (broker) => {
      const letters: Delivery[] = []
      broker.consume({
        topic: topics.deadLetters,
        group: `dlq-readers.${Date.now()}`,
        batchSizeMax: 100,
        handler: async (batch) => {
          letters.push(...batch)
        },
      })
      return async () => letters
    },
    timeoutMs: 50_000,
  })
})
