import type { PendingQuery, Row } from 'postgres'
import { type Queryable, textArray, uuidBound } from '#src/platform/database/index.ts'
import { uuidMoment } from '#src/platform/runtime/index.ts'
import type { SealedEntry } from './hash.ts'

/** A span of ids: the first is in it, the last is not. */
export type Span = { readonly fromId: string; readonly toId: string }

export type Link = Span & {
  readonly seq: bigint
  readonly isLate: boolean
  /** Null once retention has dropped the entries. */
  readonly ids: readonly string[] | null
  readonly hashes: Uint8Array | null
  readonly hash: Uint8Array
  readonly droppedAt: Date | null
}

/** A late link seals entries that were committed into a sealed span; its own span is at most this long. */
export const lateMs = 3_600_000

const columns = (sql: Queryable) => sql`
  seq, from_id as "fromId", to_id as "toId", is_late as "isLate", ids, hashes, hash,
  dropped_at as "droppedAt"`

export const lastLink = async (sql: Queryable): Promise<Link | undefined> => {
  const [link] = await sql<Link[]>`
    select ${columns(sql)} from audit_links order by seq desc limit 1`
  return link
}

/** Where the sealing of new entries goes on. */
export const sealedUntil = async (sql: Queryable): Promise<string | undefined> => {
  const [link] = await sql<{ toId: string }[]>`
    select to_id as "toId" from audit_links where not is_late order by seq desc limit 1`
  return link?.toId
}

/**
 * From here on an entry outside every link may yet be sealed late. This follows the sealing and not the clock: while
 * nothing is sealed, nothing becomes too late.
 */
export const lateFrom = async (sql: Queryable): Promise<string | undefined> => {
  const until = await sealedUntil(sql)
  return until && uuidBound(new Date(uuidMoment(until).getTime() - lateMs))
}

/** The oldest first. */
export const linksAfter = (sql: Queryable, seq: bigint, limit: number): Promise<readonly Link[]> =>
  sql<Link[]>`
    select ${columns(sql)} from audit_links where seq > ${seq.toString()}::text::bigint
    order by seq limit ${limit}`

/** The entries of a span, by id. */
export const entriesOf = (
  sql: Queryable,
  { fromId, toId }: Span,
  limit: number,
): Promise<readonly SealedEntry[]> =>
  sql<SealedEntry[]>`
    select id, actor, action, object, outcome, request_id as "requestId" from audit_log
    where id >= ${fromId}::uuid and id < ${toId}::uuid order by id limit ${limit}`

export const entriesById = (
  sql: Queryable,
  ids: readonly string[],
): Promise<readonly SealedEntry[]> =>
  sql<SealedEntry[]>`
    select entry.* from unnest(${textArray(ids)}::text::uuid[]) as listed(id)
    cross join lateral ${entryOf(sql, sql`listed.id`)}`

const entryOf = (sql: Queryable, id: PendingQuery<Row[]>) => sql`(
  select id, actor, action, object, outcome, request_id as "requestId" from audit_log
  where id = ${id} limit 1) as entry`

/**
 * Entries in sealed spans that no link holds: they were committed after their span was sealed. Links that are not
 * late touch each other, so the first of them that ends behind the span ends the search, and no late one that reaches
 * into the span ends much later. `except` compares them in one pass, however few or many the planner expects.
 */
export const unsealedSince = (
  sql: Queryable,
  { fromId, toId }: Span,
  limit: number,
): Promise<readonly SealedEntry[]> =>
  sql<SealedEntry[]>`
    with known as materialized (
      select unnest(ids) as id from audit_links
      where to_id > ${fromId}::uuid and from_id < ${toId}::uuid and ids is not null
        and to_id <= greatest(${uuidBound(new Date(uuidMoment(toId).getTime() + lateMs))}::uuid, (
          select to_id from audit_links where to_id >= ${toId}::uuid and not is_late and ids is not null
          order by to_id limit 1))
    ), unknown as materialized (
      select id from audit_log where id >= ${fromId}::uuid and id < ${toId}::uuid
      except select id from known
      order by id limit ${limit}
    )
    select entry.* from unknown cross join lateral ${entryOf(sql, sql`unknown.id`)} order by id`

/** @returns false if another process has written this link */
export const addLink = async (
  sql: Queryable,
  { seq, fromId, toId, isLate, ids, hashes, hash }: Omit<Link, 'droppedAt'>,
): Promise<boolean> => {
  const added = await sql`
    insert into audit_links (seq, from_id, to_id, is_late, ids, hashes, hash)
    values (${seq.toString()}::text::bigint, ${fromId}, ${toId}, ${isLate},
      ${textArray(ids ?? [])}::text::uuid[], ${hashes}, ${hash})
    on conflict do nothing`
  return added.count === 1
}

/** Links whose entries retention has dropped keep their hash alone: the chain goes on from it. */
export const forgetEntriesOf = async (sql: Queryable, before: string): Promise<void> => {
  await sql`
    update audit_links set ids = null, hashes = null, dropped_at = now()
    where to_id <= ${before}::uuid and ids is not null`
}

/** The numbers of the first and the last link that {@link forgetEntriesOf} would forget; undefined if none is left. */
export const forgettable = async (
  sql: Queryable,
  before: string,
): Promise<{ readonly first: bigint; readonly last: bigint } | undefined> => {
  const [span] = await sql<{ first: string | null; last: string | null }[]>`
    with old as materialized (
      select seq from audit_links where to_id <= ${before}::uuid and ids is not null
    )
    select min(seq)::text as first, max(seq)::text as last from old`
  if (span?.first == null || span.last === null) return undefined
  return { first: BigInt(span.first), last: BigInt(span.last) }
}
