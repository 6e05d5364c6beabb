import type { Metrics } from '../observe/index.ts'
import type { BrokerDeps } from './deps.ts'
import { type Engine, type PartitionSource, startEngine } from './engine.ts'
import { PublishRefusedError } from './errors.ts'
import { observeBroker } from './observe.ts'
import { partitionCount, partitionOf, refuseTooLarge } from './partition.ts'
import type { Broker, ConsumeOptions, Delivery, OutgoingMessage } from './types.ts'

/** The limit of a topic. A topic with a group refuses more; a topic that nobody reads loses its oldest messages. */
const topicBytesMax = 64 * 1024 * 1024

type Lease = { readonly partition: number; readonly member: object }
type Group = {
  /** Next offset to read, by partition. */
  readonly positions: bigint[]
  readonly owners: (object | undefined)[]
  readonly members: Set<object>
}
type Topic = {
  readonly partitions: Delivery[][]
  readonly groups: Map<string, Group>
  readonly engines: Set<Engine>
  bytes: number
  nextOffset: bigint
}

const newTopic = (): Topic => ({
  partitions: Array.from({ length: partitionCount }, () => []),
  groups: new Map(),
  engines: new Set(),
  bytes: 0,
  nextOffset: 1n,
})

/** Keeps everything in this process, and loses it with the process: for trials without a database. */
export const createMemoryBroker = (deps: BrokerDeps & { readonly metrics?: Metrics }): Broker => {
  const byName = new Map<string, Topic>()
  const topicOf = (name: string): Topic => {
    const found = byName.get(name) ?? newTopic()
    byName.set(name, found)
    return found
  }
  const observer = observeBroker(deps.metrics, (topic, group) => broker.backlog(topic, group))

  const publish = async (messages: readonly OutgoingMessage[]): Promise<void> => {
    refuseTooLarge(messages)
    refuseOverfull(messages, topicOf)
    for (const message of messages) append(topicOf(message.topic), message)
    for (const name of new Set(messages.map(({ topic }) => topic))) {
      for (const engine of topicOf(name).engines) engine.wake()
    }
  }

  const broker: Broker = {
    kind: 'memory',
    isDurable: false,
    publish,
    consume: (options) => {
      const topic = topicOf(options.topic)
      const onDeadLetter = observer.onDeadLetter
      const engine = startEngine(sourceOf(topic, options), options, {
        publish,
        onDeadLetter,
        logger: deps.logger,
      })
      topic.engines.add(engine)
      observer.onConsume(options)
      const stop = async (): Promise<void> => {
        await engine.stop()
        topic.engines.delete(engine)
      }
      return { drain: engine.drain, stop }
    },
    backlog: async (name, groupName) => {
      const topic = topicOf(name)
      const group = topic.groups.get(groupName)
      const waiting = topic.partitions.flatMap((list, partition) =>
        list.filter(({ offset }) => offset >= (group?.positions[partition] ?? 0n)),
      )
      const oldestMs = Math.min(...waiting.map(({ publishedAt }) => publishedAt.getTime()))
      const ageSeconds = waiting.length === 0 ? 0 : (Date.now() - oldestMs) / 1000
      return { depth: waiting.length, ageSeconds }
    },
    ping: async () => true,
    loops: () =>
      [...byName.values()].flatMap(({ engines }) => [...engines].map(({ watched }) => watched)),
    start: async () => {},
    stop: async () => {
      const engines = [...byName.values()].flatMap((topic) => [...topic.engines])
      await Promise.all(engines.map((engine) => engine.stop()))
    },
  }
  return broker
}

const refuseOverfull = (
  messages: readonly OutgoingMessage[],
  topicOf: (name: string) => Topic,
): void => {
  const added = new Map<string, number>()
  for (const { topic, value } of messages) added.set(topic, (added.get(topic) ?? 0) + value.length)
  for (const [name, bytes] of added) {
    const topic = topicOf(name)
    if (topic.groups.size > 0 && topic.bytes + bytes > topicBytesMax) {
      throw new PublishRefusedError(
        `${name} holds ${topic.bytes} bytes that wait: no room for more`,
      )
    }
  }
}

const append = (topic: Topic, message: OutgoingMessage): void => {
  const partition = partitionOf(message.key)
  const list = topic.partitions[partition] ?? []
  list.push({
    topic: message.topic,
    partition,
    offset: topic.nextOffset++,
    key: message.key,
    value: message.value,
    headers: message.headers ?? {},
    publishedAt: message.publishedAt ?? new Date(),
    attempt: 1,
  })
  topic.bytes += message.value.length
  while (topic.groups.size === 0 && topic.bytes > topicBytesMax) dropOldest(topic)
}

const dropOldest = (topic: Topic): void => {
  const [oldest] = topic.partitions
    .filter((list) => list.length > 0)
    .sort((a, b) => Number((a[0]?.offset ?? 0n) - (b[0]?.offset ?? 0n)))
  topic.bytes -= oldest?.shift()?.value.length ?? 0
}

/** Drops the messages that every group has settled. */
const trim = (topic: Topic, partition: number): void => {
  const list = topic.partitions[partition] ?? []
  const positions = [...topic.groups.values()].map((group) => group.positions[partition] ?? 0n)
  const isPast = ({ offset }: Delivery): boolean => positions.every((next) => offset < next)
  let count = 0
  for (let first = list[0]; first !== undefined && isPast(first); first = list[count]) {
    topic.bytes -= first.value.length
    count++
  }
  list.splice(0, count)
}

const sourceOf = (topic: Topic, options: ConsumeOptions): PartitionSource<Lease, Delivery> => {
  const member = {}
  const group: Group = topic.groups.get(options.group) ?? {
    positions: Array.from({ length: partitionCount }, () => 0n),
    owners: Array.from({ length: partitionCount }, () => undefined),
    members: new Set(),
  }
  topic.groups.set(options.group, group)
  group.members.add(member)
  const owned = (): number[] =>
    group.owners.flatMap((owner, partition) => (owner === member ? [partition] : []))
  const share = (): number => Math.ceil(partitionCount / group.members.size)
  return {
    rebalance: async (busy) => {
      const surplus = owned().slice(share())
      for (const partition of surplus) if (!busy.has(partition)) group.owners[partition] = undefined
      for (const [partition, owner] of group.owners.entries()) {
        if (owner === undefined && owned().length < share()) group.owners[partition] = member
      }
    },
    // We read no further from a partition that is to be given back, so that its batch is the last.
    assigned: () => owned().slice(0, share()),
    fetch: async (partitions, messagesMax) =>
      partitions.flatMap((partition) => {
        const next = group.positions[partition] ?? 0n
        const list = topic.partitions[partition] ?? []
        const from = list.findIndex(({ offset }) => offset >= next)
        const messages = from === -1 ? [] : list.slice(from, from + messagesMax)
        return messages.length === 0 ? [] : [{ lease: { partition, member }, messages }]
      }),
    settle: ({ partition }, { offset }) => {
      group.positions[partition] = offset + 1n
      trim(topic, partition)
    },
    close: async () => {
      for (const partition of owned()) group.owners[partition] = undefined
      group.members.delete(member)
    },
  }
}
