import {
  type Client,
  deletedMax,
  type Queryable,
  type Transaction,
  textArray,
} from '#src/platform/database/index.ts'
import { type Actor, writeAudit } from '#src/platform/http/index.ts'
import type { Round } from '#src/platform/jobs/index.ts'
import { codesOfNoMessage, deadLetterHeaders } from '../dead-letter.ts'
import { addressed, destinationHeader, outboxTopic, unaddressed } from '../outbox-message.ts'
import { createLanes } from './lanes.ts'
import { insertMessages } from './publish.ts'

/** A message in `dlq` of the embedded broker. */
export type KeptLetter = {
  readonly id: bigint
  readonly key: string | null
  readonly value: Uint8Array
  /** The message's own headers and those of {@link deadLetterHeaders}. */
  readonly headers: Readonly<Record<string, string>>
  readonly publishedAt: Date
  /** Why nothing can be published of it; null: it can be retried. */
  readonly stays: StayReason | null
}

export type ListedLetter = Omit<KeptLetter, 'value'> & { readonly bytes: number }

/** The acts of people on dead letters; the audit log tells, in the same transaction, of retries and drops. */
export type DeadLetterBox = {
  /** The newest first, or the oldest; letters older than `before`; with a code, only letters with that code. */
  list(
    limit: number,
    search?: {
      readonly before?: bigint | undefined
      readonly errorCode?: string | undefined
      readonly isOldestFirst?: boolean
    },
  ): Promise<readonly ListedLetter[]>
  /** How many are there, counted up to `limit`. */
  count(limit: number): Promise<number>
  /** How many of each error code and topic are among the newest `limit`; the most first. */
  classes(limit: number): Promise<readonly LetterClass[]>
  /** The letters that can be retried now, the oldest first; of these error codes and topics, if given. */
  ids(limit: number, of?: LettersOf): Promise<readonly bigint[]>
  /**
   * The same for a transaction that retries them all, in the order in which all writers lock subjects: by their keys.
   * Two that retry at once wait and do not deadlock.
   */
  idsIn(tx: Transaction, limit: number, of?: LettersOf): Promise<readonly bigint[]>
  find(id: bigint): Promise<KeptLetter | undefined>
  /** Why some cannot be retried, the most frequent reason first, counted up to `limit`. */
  staying(limit: number, of?: LettersOf): Promise<readonly StayingLetters[]>
  /** Publishes the letter to its original topic and removes it, both or neither; false when it is not there. */
  retry(id: bigint, actor: Actor): Promise<boolean>
  /** The same within a transaction of the caller. @throws LetterStaysError */
  retryIn(tx: Transaction, id: bigint, actor: Actor): Promise<boolean>
  /** False when it is not there. */
  drop(id: bigint, actor: Actor): Promise<boolean>
  dropIn(tx: Transaction, id: bigint, actor: Actor): Promise<boolean>
  /** Throws away letters of that age, except those that somebody still has to decide on. */
  dropOld(days: number, round?: Round): Promise<{ readonly dropped: number; readonly held: number }>
  /** How many of the oldest stay in spite of their age, counted up to a page of them. */
  countHeld(days: number): Promise<number>
}

type LettersOf = { readonly errorCode?: string | undefined; readonly topic?: string | undefined }

/** Acts on the subjects of letters, which the broker does not know. */
export type LetterSubjects = {
  /** Takes it up again, in the transaction that publishes the letter's message. */
  readonly reopen: (tx: Transaction, letter: Pick<KeptLetter, 'headers'>) => Promise<void>
  /** Ends it, in the transaction that throws the letter away. */
  readonly end: (tx: Transaction, letter: Pick<KeptLetter, 'headers'>) => Promise<void>
  /** The letters for which `end` would end something: no clock throws them away. */
  readonly held: <L extends Pick<KeptLetter, 'headers'>>(
    sql: Queryable,
    letters: readonly L[],
  ) => Promise<readonly L[]>
}

const noSubjects: LetterSubjects = {
  reopen: async () => {},
  end: async () => {},
  held: async () => [],
}

type LetterClass = {
  readonly code: string | null
  readonly topic: string | null
  readonly count: number
  /** How many of them. */
  readonly canBeRetried: number
}

type StayingLetters = { readonly why: string; readonly count: number }

/** Why a letter stays: it can be looked at, and thrown away. */
const stayTexts = {
  no_topic: 'It does not say which topic it came from: it can only be thrown away.',
  cut: 'It holds only the beginning of its message: it can only be thrown away.',
  no_message: 'It holds what cannot be read, and no message: it can only be thrown away.',
} as const

type StayReason = keyof typeof stayTexts

/** The one rule that decides whether a letter can be retried: a {@link StayReason}, or null. */
const stays = (sql: Queryable) => sql`
  case
    when headers ->> ${deadLetterHeaders.topic} is null then 'no_topic'
    when headers ->> ${deadLetterHeaders.topic} = ${outboxTopic}
      and headers ->> ${destinationHeader} is null then 'no_topic'
    when headers ->> ${deadLetterHeaders.cutFrom} is not null then 'cut'
    when split_part(headers ->> ${deadLetterHeaders.errorCode}, ':', 1)
      = any(${textArray(codesOfNoMessage)}::text::text[]) then 'no_message'
  end`

/** The letter holds nothing to publish: people can only look at it, and throw it away. */
export class LetterStaysError extends Error {
  override readonly name = 'LetterStaysError'
}

/** The topic that its message goes back to. @throws LetterStaysError */
const originOf = ({ headers, stays: reason }: Pick<KeptLetter, 'headers' | 'stays'>): string => {
  const origin = headers[deadLetterHeaders.topic]
  if (reason !== null || origin === undefined) {
    throw new LetterStaysError(stayTexts[reason ?? 'no_topic'])
  }
  return origin
}

/** A message that the table of an earlier version brought may have none. */
const headersOf = (sql: Queryable) => sql`coalesce(headers, '{}') as headers`

const dlqHeaders: ReadonlySet<string> = new Set(Object.values(deadLetterHeaders))

/**
 * The dead letters in this database. With `isRelayed`, retried letters go through the outbox to the broker outside of
 * the database.
 */
export const openDeadLetters = (
  sql: Client,
  isRelayed = false,
  subjects = noSubjects,
): DeadLetterBox => {
  const lanes = createLanes()
  const retryIn: DeadLetterBox['retryIn'] = async (tx, id, actor) => {
    const [letter] = await tx<KeptLetter[]>`
      delete from broker_dead_letters where id = ${id}
      returning id, key, value, ${headersOf(tx)}, published_at as "publishedAt", ${stays(tx)} as stays`
    if (letter === undefined) return false
    const origin = originOf(letter)
    await subjects.reopen(tx, letter)
    const { value, publishedAt } = letter
    const key = letter.key ?? undefined
    const kept = Object.entries(letter.headers).filter(([name]) => !dlqHeaders.has(name))
    const headers = { ...Object.fromEntries(kept), [deadLetterHeaders.retried]: 'true' }
    // A message that did not get out of the outbox carries its destination.
    const message =
      origin === outboxTopic
        ? unaddressed({ key, value, headers, publishedAt })
        : { topic: origin, key, value, headers }
    await insertMessages(tx, lanes, [isRelayed ? addressed(message) : message])
    const object = String(id)
    await writeAudit(tx, { actor, action: 'dead_letters.retry', object, outcome: 'retried' })
    return true
  }
  const dropIn: DeadLetterBox['dropIn'] = async (tx, id, actor) => {
    const [letter] = await tx<Pick<KeptLetter, 'headers'>[]>`
      delete from broker_dead_letters where id = ${id} returning ${headersOf(tx)}`
    if (letter === undefined) return false
    await subjects.end(tx, letter)
    const object = String(id)
    await writeAudit(tx, { actor, action: 'dead_letters.drop', object, outcome: 'dropped' })
    return true
  }
  return {
    ...reading(sql),
    idsIn: async (tx, limit, of) => {
      const rows = await tx<{ id: bigint }[]>`
        select id from (${oldest(tx, limit, of)}) oldest order by key, id`
      return rows.map(({ id }) => id)
    },
    ...ageing(sql, subjects),
    retryIn,
    dropIn,
    retry: (id, actor) => sql.begin((tx) => retryIn(tx, id, actor)),
    drop: (id, actor) => sql.begin((tx) => dropIn(tx, id, actor)),
  }
}

const ageing = (
  sql: Client,
  subjects: LetterSubjects,
): Pick<DeadLetterBox, 'dropOld' | 'countHeld'> => ({
  dropOld: async (days, round) => {
    let [dropped, held] = [0, 0]
    for (let page = await pageOfOld(sql, days); page.length > 0; ) {
      const staying = await subjects.held(sql, page)
      const stays = new Set(staying.map(({ id }) => id))
      const ids = page.map(({ id }) => id).filter((id) => !stays.has(id))
      const gone = await sql`
        delete from broker_dead_letters where id = any(${textArray(ids)}::text::bigint[])`
      dropped += gone.count
      held += staying.length
      round?.advance()
      if (page.length < deletedMax || round?.signal.aborted === true) break
      page = await pageOfOld(sql, days, page.at(-1))
    }
    return { dropped, held }
  },
  countHeld: async (days) => (await subjects.held(sql, await pageOfOld(sql, days))).length,
})

type OldLetter = Pick<KeptLetter, 'id' | 'headers'> & { readonly at: string }

/** The oldest letters of that age behind `last`: letters that stay must not hide the others. */
const pageOfOld = (sql: Client, days: number, last?: OldLetter): Promise<readonly OldLetter[]> =>
  sql<OldLetter[]>`
    select id, ${headersOf(sql)}, to_char(published_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as at
    from broker_dead_letters
    where published_at < now() - make_interval(days => ${days})
      ${last === undefined ? sql`` : sql`and (published_at, id) > (${last.at}::text::timestamptz, ${last.id})`}
    order by published_at, id limit ${deletedMax}`

const reading = (
  sql: Client,
): Pick<DeadLetterBox, 'list' | 'count' | 'classes' | 'ids' | 'staying' | 'find'> => ({
  list: (limit, { before, errorCode, isOldestFirst = false } = {}) => sql<ListedLetter[]>`
    select id, key, ${headersOf(sql)}, published_at as "publishedAt", octet_length(value) as bytes,
      ${stays(sql)} as stays
    from broker_dead_letters
    where true ${before === undefined ? sql`` : sql`and id < ${before}`}
      ${errorCode === undefined ? sql`` : sql`and headers ->> ${deadLetterHeaders.errorCode} = ${errorCode}`}
    order by id ${isOldestFirst ? sql`` : sql`desc`} limit ${limit}`,
  count: async (limit) => {
    const [row] = await sql<{ count: number }[]>`
      select count(*)::int as count
      from (select from broker_dead_letters order by published_at limit ${limit}) oldest`
    return row?.count ?? 0
  },
  classes: (limit) => sql<LetterClass[]>`
    select headers ->> ${deadLetterHeaders.errorCode} as code,
      headers ->> ${deadLetterHeaders.topic} as topic, count(*)::int as count,
      (count(*) filter (where ${stays(sql)} is null))::int as "canBeRetried"
    from (select headers from broker_dead_letters order by id desc limit ${limit}) newest
    group by 1, 2 order by 3 desc, 1, 2`,
  ids: async (limit, of) => {
    const rows = await sql<{ id: bigint }[]>`${oldest(sql, limit, of)}`
    return rows.map(({ id }) => id)
  },
  staying: async (limit, of) => {
    const rows = await sql<{ reason: StayReason; count: number }[]>`
      select reason, count(*)::int as count
      from (
        select ${stays(sql)} as reason from broker_dead_letters
        where ${stays(sql)} is not null ${searched(sql, of)} limit ${limit}
      ) found
      group by 1 order by 2 desc, 1`
    return rows.map(({ reason, count }) => ({ count, why: stayTexts[reason] }))
  },
  find: async (id) => {
    const [letter] = await sql<KeptLetter[]>`
      select id, key, value, ${headersOf(sql)}, published_at as "publishedAt", ${stays(sql)} as stays
      from broker_dead_letters where id = ${id}`
    return letter
  },
})

/** The letters that can be retried, the oldest first. */
const oldest = (sql: Queryable, limit: number, of?: LettersOf) => sql`
  select id, key from broker_dead_letters
  where ${stays(sql)} is null ${searched(sql, of)}
  order by id limit ${limit}`

const searched = (sql: Queryable, { errorCode, topic }: LettersOf = {}) => sql`
  ${errorCode === undefined ? sql`` : sql`and headers ->> ${deadLetterHeaders.errorCode} = ${errorCode}`}
  ${topic === undefined ? sql`` : sql`and headers ->> ${deadLetterHeaders.topic} = ${topic}`}`
