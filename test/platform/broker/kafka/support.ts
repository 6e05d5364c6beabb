import {
  type Broker,
  BrokerUnavailableError,
  createKafkaBroker,
  type Delivery,
  type KafkaBrokerDeps,
  type OutgoingMessage,
} from '#src/platform/broker/index.ts'
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

/** A handler that says, for each key, what it was given. */
export const createReader = () => {
  const seen = new Map<string, string[]>()
  return {
    seen,
    count: (): number => [...seen.values()].reduce((sum, values) => sum + values.length, 0),
    handler: async (batch: readonly Delivery[]): Promise<void> => {
      for (const { key = '', value } of batch) {
        seen.set(key, [...(seen.get(key) ?? []), Buffer.from(value).toString()])
      }
    },
  }
}

/** Publishes rounds of one numbered message for each key, as every caller does: until each is known to be there. */
export const startLoad = (broker: Broker, topic: string, keys: readonly string[]) => {
  let rounds = 0
  let failures = 0
  let isLoaded = true
  const publishUntilTaken = async (messages: readonly OutgoingMessage[]): Promise<void> => {
    for (;;) {
      try {
        return await broker.publish(messages)
      } catch (error) {
        if (!(error instanceof BrokerUnavailableError)) throw error
        failures++
        await Bun.sleep(20)
      }
    }
  }
  const running = (async () => {
    while (isLoaded) {
      const value = Buffer.from(String(rounds++).padStart(6, '0'))
      await publishUntilTaken(keys.map((key) => ({ topic, key, value })))
      await Bun.sleep(5)
    }
  })()
  return {
    /** Publications that were tried again. */
    failures: (): number => failures,
    /** @returns what each key was sent */
    end: async (): Promise<readonly string[]> => {
      isLoaded = false
      await running
      return Array.from({ length: rounds }, (_, at) => String(at).padStart(6, '0'))
    },
  }
}
