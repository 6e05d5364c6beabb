import { currentTraceparent, inSpan, isTracing } from '../observe/index.ts'
import type { TransactionalBroker } from './postgresql/index.ts'
import type { Broker, ConsumeOptions, Delivery, OutgoingMessage } from './types.ts'

/** Header that carries W3C Trace Context, so that one trace spans producer and consumer. */
export const traceHeader = 'traceparent'

/**
 * Wraps a broker: puts the active trace into the headers of what is published, and a span around every publication
 * and every batch. A batch belongs to the trace of its messages if they share one; otherwise it is linked to them.
 * A handler that works message by message opens spans with {@link traceHeader} as parent.
 */
export const tracedBroker = <B extends Broker>(broker: B): B => {
  // The semantic conventions name Kafka so; they have no name for the embedded brokers.
  const system = broker.kind === 'kafka' ? 'kafka' : 'trilho'
  const traced: Partial<TransactionalBroker> = {
    publish: (messages) => publishing(system, messages, (withTrace) => broker.publish(withTrace)),
    consume: (options) => broker.consume({ ...options, handler: tracedHandler(system, options) }),
  }
  if (isTransactional(broker)) {
    traced.publishIn = (transaction, messages) =>
      publishing(system, messages, (withTrace) => broker.publishIn(transaction, withTrace))
    traced.publishing = (transaction, messages) =>
      publishing(system, messages, (withTrace) => broker.publishing(transaction, withTrace))
  }
  return { ...broker, ...traced }
}

const isTransactional = (broker: Broker): broker is TransactionalBroker => 'publishIn' in broker

const publishing = <T>(
  system: string,
  messages: readonly OutgoingMessage[],
  publish: (messages: readonly OutgoingMessage[]) => Promise<T>,
): Promise<T> => {
  const topic = messages[0]?.topic
  if (!isTracing() || topic === undefined) return publish(messages)
  const attributes = {
    'messaging.system': system,
    'messaging.operation.name': 'publish',
    'messaging.destination.name': topic,
    'messaging.batch.message_count': messages.length,
  }
  return inSpan(`publish ${topic}`, { kind: 'producer', attributes }, () => {
    const traceparent = currentTraceparent()
    return publish(traceparent === undefined ? messages : messages.map(withTrace(traceparent)))
  })
}

/** Adds the trace, unless the message was taken from elsewhere and carries one already. */
const withTrace =
  (traceparent: string) =>
  (message: OutgoingMessage): OutgoingMessage =>
    message.headers?.[traceHeader] === undefined
      ? { ...message, headers: { ...message.headers, [traceHeader]: traceparent } }
      : message

const linksMax = 100

const tracedHandler =
  (system: string, { topic, group, handler }: ConsumeOptions) =>
  (batch: readonly Delivery[], onProgress: () => void): Promise<void> => {
    if (!isTracing()) return handler(batch, onProgress)
    const parents = [...new Set(batch.map(({ headers }) => headers[traceHeader]))]
    const attributes = {
      'messaging.system': system,
      'messaging.operation.name': 'process',
      'messaging.destination.name': topic,
      'messaging.consumer.group.name': group,
      'messaging.batch.message_count': batch.length,
    }
    const cause =
      parents.length === 1 ? { parent: parents[0] } : { links: parents.slice(0, linksMax) }
    return inSpan(`process ${topic}`, { kind: 'consumer', attributes, ...cause }, () =>
      handler(batch, onProgress),
    )
  }
