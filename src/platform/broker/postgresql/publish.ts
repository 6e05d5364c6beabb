import { bytesArray, type Queryable, textArray } from '#src/platform/database/index.ts'
import { partitionOf, refuseTooLarge } from '../partition.ts'
import type { OutgoingMessage } from '../types.ts'

/** Writes the messages in one statement, in order. In a transaction they appear when it commits. */
export const insertMessages = async (
  sql: Queryable,
  messages: readonly OutgoingMessage[],
): Promise<void> => {
  if (messages.length === 0) return
  refuseTooLarge(messages)
  const topics = messages.map(({ topic }) => topic)
  const partitions = messages.map(({ key }) => partitionOf(key))
  const keys = messages.map(({ key }) => key)
  const headers = messages.map((message) => JSON.stringify(message.headers ?? {}))
  const values = messages.map(({ value }) => value)
  await sql`
    insert into broker_log (topic, partition, xid, key, headers, value)
    select topic, partition, pg_current_xact_id(), key, headers::jsonb, value
    from unnest(${textArray(topics)}::text::text[], ${textArray(partitions)}::text::smallint[],
      ${textArray(keys)}::text::text[], ${textArray(headers)}::text::text[],
      ${bytesArray(values)}::text::bytea[])
      with ordinality as message(topic, partition, key, headers, value, place)
    order by place`
}
