import type { Client } from '#src/platform/database/index.ts'
import { deadLetterHeaders } from '../dead-letter.ts'
import { addressed, outboxTopic } from '../outbox-message.ts'
import { createLanes } from './lanes.ts'
import { insertMessages } from './publish.ts'

/** A message in `dlq` of the embedded broker. */
export type KeptLetter = {
  readonly id: bigint
  readonly key: string | null
  readonly value: Uint8Array
  /** Its own headers and those of {@link deadLetterHeaders}. */
  readonly headers: Readonly<Record<string, string>>
  readonly publishedAt: Date
}

export type ListedLetter = Omit<KeptLetter, 'value'> & { readonly bytes: number }

/** What people do with dead letters. */
export type DeadLetterBox = {
  /** The newest first. */
  list(limit: number): Promise<readonly ListedLetter[]>
  /** Those that can be retried now, the oldest first; with a code, only those that have it. */
  ids(limit: number, errorCode?: string): Promise<readonly bigint[]>
  find(id: bigint): Promise<KeptLetter | undefined>
  /** Publishes it to its original topic and removes it, both or neither; false when it is not there. */
  retry(id: bigint): Promise<boolean>
  /** False when it is not there. */
  drop(id: bigint): Promise<boolean>
}

const dlqHeaders: ReadonlySet<string> = new Set(Object.values(deadLetterHeaders))

/**
 * The dead letters in this database. With `isRelayed`, retried letters go through the outbox to the broker outside of
 * the database.
 */
export const openDeadLetters = (sql: Client, isRelayed = false): DeadLetterBox => {
  const lanes = createLanes(sql)
  return {
    list: (limit) => sql<ListedLetter[]>`
      select id, key, headers, published_at as "publishedAt", octet_length(value) as bytes
      from broker_dead_letters order by id desc limit ${limit}`,
    ids: async (limit, errorCode) => {
      const rows = await sql<{ id: bigint }[]>`
        select id from broker_dead_letters
        where headers ->> ${deadLetterHeaders.topic} is not null
          and (${errorCode ?? null}::text is null or headers ->> ${deadLetterHeaders.errorCode} = ${errorCode ?? null})
        order by id limit ${limit}`
      return rows.map(({ id }) => id)
    },
    find: async (id) => {
      const [letter] = await sql<KeptLetter[]>`
        select id, key, value, headers, published_at as "publishedAt"
        from broker_dead_letters where id = ${id}`
      return letter
    },
    retry: (id) =>
      sql.begin(async (tx) => {
        const [letter] = await tx<KeptLetter[]>`
          delete from broker_dead_letters where id = ${id}
          returning id, key, value, headers, published_at as "publishedAt"`
        const origin = letter?.headers[deadLetterHeaders.topic]
        if (letter === undefined) return false
        if (origin === undefined)
          throw new Error('the message does not say which topic it came from')
        const { key, value } = letter
        const kept = Object.entries(letter.headers).filter(([name]) => !dlqHeaders.has(name))
        const headers = { ...Object.fromEntries(kept), [deadLetterHeaders.retried]: 'true' }
        const message = { topic: origin, key: key ?? undefined, value, headers }
        // A message that did not get out of the outbox carries its destination.
        const isForOutbox = isRelayed && origin !== outboxTopic
        await insertMessages(tx, lanes, [isForOutbox ? addressed(message) : message])
        return true
      }),
    drop: async (id) => {
      const rows = await sql`
        delete from broker_dead_letters where id = ${id} returning id`
      return rows.length > 0
    },
  }
}
