import { type Broker, createKafkaBroker, type KafkaBrokerDeps } from '#src/platform/broker/index.ts'
import { quietLogger } from '../../../support/database.ts'
import { sharedTestKafka } from '../../../support/kafka.ts'

let serial = 0
/** A name that no other test has used, in this run or another. */
export const freshTopic = (stem: string): string =>
  `${stem}.${process.pid}.${Date.now()}.${serial++}`

/** A broker as `serve` opens it, started; that of the shared Kafka unless it is told another. */
export const openKafkaBroker = async ({
  address,
  ...more
}: Partial<KafkaBrokerDeps> & { readonly address?: string } = {}): Promise<Broker> => {
  const broker = createKafkaBroker({
    cluster: { addresses: [address ?? (await sharedTestKafka()).address], clientId: 'trilho-test' },
    topics: { partitions: 8, replicas: undefined, retentionDays: 1 },
    logger: quietLogger,
    ...more,
  })
  await broker.start()
  return broker
}
