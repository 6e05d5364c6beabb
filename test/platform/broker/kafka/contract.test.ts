import { afterAll, beforeAll, describe } from 'bun:test'
import { type Broker, createKafkaBroker } from '#src/platform/broker/index.ts'
import { brokerContract } from '../../../contract/broker.contract.ts'
import { quietLogger } from '../../../support/database.ts'
import { isKafkaHere, startTestKafka, type TestKafka } from '../../../support/kafka.ts'

describe.skipIf(!isKafkaHere)('with a real Kafka', () => {
  let kafka: TestKafka
  beforeAll(async () => {
    kafka = await startTestKafka()
  }, 60_000)
  afterAll(() => kafka.close())

  const open = async (): Promise<Broker> => {
    const broker = createKafkaBroker({
      cluster: { addresses: [kafka.address], clientId: 'trilho-test' },
      topics: { partitions: 8, replicas: undefined, retentionDays: 1 },
      logger: quietLogger,
    })
    await broker.start()
    return broker
  }

  brokerContract('Kafka', { open, timeoutMs: 30_000 })
})
