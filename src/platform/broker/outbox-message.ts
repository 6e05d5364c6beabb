import type { Delivery, OutgoingMessage } from './types.ts'

/** Topic of the log in the database that holds what transactions publish, until the broker has it. */
export const outboxTopic = 'outbox'
/** Set on a message in the outbox: its destination. */
export const destinationHeader = 'outbox-topic'

/** The message as it waits in the outbox. */
export const addressed = ({ topic, headers, ...message }: OutgoingMessage): OutgoingMessage => ({
  ...message,
  topic: outboxTopic,
  headers: { ...headers, [destinationHeader]: topic },
})

export const isAddressed = ({ headers }: Pick<Delivery, 'headers'>): boolean =>
  headers[destinationHeader] !== undefined

/** The message of a delivery from the outbox. */
export const unaddressed = ({
  key,
  value,
  headers: all,
  publishedAt,
}: Pick<Delivery, 'key' | 'value' | 'headers' | 'publishedAt'>): OutgoingMessage => {
  const { [destinationHeader]: topic, ...headers } = all
  if (topic === undefined) throw new Error('a message in the outbox does not say where it goes')
  return { topic, key, value, headers, publishedAt }
}
