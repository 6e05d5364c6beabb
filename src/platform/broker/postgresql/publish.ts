import {
  goAlone,
  joinedBytes,
  jsonArray,
  type Queryable,
  type Rider,
  textArray,
} from '#src/platform/database/index.ts'
import { partitionOf, refuseTooLarge } from '../partition.ts'
import { type OutgoingMessage, topics } from '../types.ts'
import { keptOf } from './kept.ts'
import type { Lanes } from './lanes.ts'

/**
 * Writes the messages in order, all of one kind in one statement. In a transaction they appear when it commits. Dead
 * letters have a table of their own, because nobody consumes them.
 *
 * @returns the ids of the messages that consumers wait for
 */
export const insertMessages = async (
  sql: Queryable,
  lanes: Lanes,
  messages: readonly OutgoingMessage[],
): Promise<readonly bigint[]> => {
  refuseTooLarge(messages)
  const letters = messages.filter(isLetter)
  const queued = messages.filter((message) => !isLetter(message))
  if (letters.length > 0) await insertLetters(sql, letters)
  if (queued.length === 0) return []
  let ids: readonly bigint[] = []
  const rider = await queueing(sql, lanes, queued, (all) => {
    ids = all
  })
  await goAlone(sql, rider)
  return ids
}

/** Whether it goes to the table of dead letters. */
export const isLetter = ({ topic }: OutgoingMessage): boolean => topic === topics.deadLetters

/**
 * Queues messages within another statement.
 *
 * @param messages none of which is a dead letter
 * @param onQueued gets the ids that they have
 */
export const queueing = async (
  sql: Queryable,
  lanes: Lanes,
  messages: readonly OutgoingMessage[],
  onQueued: (ids: readonly bigint[]) => void,
): Promise<Rider> => {
  refuseTooLarge(messages)
  const names = messages.map(({ topic }) => topic)
  const known = await lanes.of(names, sql)
  const places = messages.map(({ topic, key }) => known.get(topic)?.[partitionOf(key)])
  const { keys, headers, bytes, starts, lengths } = columnsOf(messages.map(keptOf))
  return {
    name: 'queued',
    // Sorted within: each id is drawn after the one before it.
    ctes: (tx) => tx`queued as (
      insert into broker_queue (id, topic, key, headers, value)
      select (lane::bigint << 44) | nextval('broker_queue_order'), topic, key, headers::jsonb,
        substring(${bytes}::bytea from start for length)
      from (
        select * from unnest(${textArray(names)}::text::text[], ${textArray(places)}::text::int[],
          ${keys}::text::text[], ${headers}::text::text[], ${starts}::text::int[], ${lengths}::text::int[])
          with ordinality as message(topic, lane, key, headers, start, length, place)
        order by place
      ) messages
      returning id::text as told
    )`,
    done: (told) => onQueued(told.map(BigInt)),
  }
}

const insertLetters = async (
  sql: Queryable,
  messages: readonly OutgoingMessage[],
): Promise<void> => {
  const { keys, headers, bytes, starts, lengths } = columnsOf(messages)
  await sql`
    insert into broker_dead_letters (key, headers, value)
    select key, headers::jsonb, substring(${bytes}::bytea from start for length)
    from unnest(${keys}::text::text[], ${headers}::text::text[], ${starts}::text::int[],
      ${lengths}::text::int[]) with ordinality as message(key, headers, start, length, place)
    order by place`
}

const columnsOf = (messages: readonly OutgoingMessage[]) => ({
  keys: textArray(messages.map(({ key }) => key)),
  headers: jsonArray(messages.map((message) => JSON.stringify(message.headers ?? {}))),
  ...joinedBytes(messages.map(({ value }) => value)),
})
