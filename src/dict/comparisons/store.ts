import type { KeyType } from '#codecs/dict'
import { type Client, constants, type Queryable, textArray } from '#src/platform/database/index.ts'
import { goneStatuses } from '../entries/domain.ts'
import type { Comparison } from '../types.ts'
import type { Difference, OwnCid, Side, Theirs } from './domain.ts'

const columns = (sql: Queryable) => sql`
  id, key_type as "keyType", method, since, status, file_id::float8 as "fileId", entries,
  only_ours as "onlyOurs", only_theirs as "onlyTheirs", is_complete as "isComplete", failure,
  created_at as "createdAt", ended_at as "endedAt"`

/** @returns false: one of the type runs */
export const addComparison = async (tx: Queryable, made: Comparison): Promise<boolean> => {
  const { count } = await tx`
    insert into dict_comparisons (id, key_type, method, since, status, created_at)
    values (${made.id}, ${made.keyType}, ${made.method}, ${made.since}, ${made.status},
      ${made.createdAt})
    on conflict do nothing`
  return count > 0
}

export const findComparison = async (
  sql: Queryable,
  id: string,
): Promise<Comparison | undefined> => {
  const [row] = await sql<Comparison[]>`
    select ${columns(sql)} from dict_comparisons where id = ${id}::uuid`
  return row
}

export const runningComparisons = async (sql: Client): Promise<readonly Comparison[]> => sql<
  Comparison[]
>`
  select ${columns(sql)} from dict_comparisons where status = 'running' order by created_at`

export const keepFile = async (sql: Queryable, id: string, fileId: number): Promise<void> => {
  await sql`update dict_comparisons set file_id = ${fileId} where id = ${id}::uuid`
}

/** @returns false: another process has ended it */
export const endComparison = async (
  tx: Queryable,
  id: string,
  end: Pick<
    Comparison,
    'status' | 'entries' | 'onlyOurs' | 'onlyTheirs' | 'isComplete' | 'failure' | 'endedAt'
  >,
): Promise<boolean> => {
  const { count } = await tx`
    update dict_comparisons set status = ${end.status}, entries = ${end.entries},
      only_ours = ${end.onlyOurs}, only_theirs = ${end.onlyTheirs},
      is_complete = ${end.isComplete}, failure = ${end.failure}, ended_at = ${end.endedAt}
    where id = ${id}::uuid and status = 'running'`
  return count > 0
}

export const addDifferences = async (
  tx: Queryable,
  comparisonId: string,
  all: readonly Difference[],
): Promise<void> => {
  const rows = all.map(({ key, entryId, theirs }) => ({
    key,
    entryId,
    theirs: theirs && JSON.stringify(theirs),
  }))
  await tx`
    insert into dict_differences (comparison_id, key, entry_id, theirs)
    select ${comparisonId}::uuid, key, "entryId", theirs
    from json_to_recordset(${JSON.stringify(rows)}::text::json)
      as r(key text, "entryId" uuid, theirs text)
    on conflict do nothing`
}

type Row = Omit<Difference, 'theirs'> & { readonly theirs: string | null }

const differenceOf = (row: Row): Difference => ({
  ...row,
  theirs: row.theirs === null ? null : (JSON.parse(row.theirs) as Theirs),
})

/** In the order of their keys. */
export const listDifferences = async (
  sql: Queryable,
  comparisonId: string,
  { after = '', limit }: { readonly after: string | undefined; readonly limit: number },
): Promise<readonly Difference[]> => {
  const rows = await sql<Row[]>`
    select key, entry_id as "entryId", theirs, kept from dict_differences
    where comparison_id = ${comparisonId}::uuid and key > ${after} order by key limit ${limit}`
  return rows.map(differenceOf)
}

/** Locks it until the transaction ends. */
export const lockDifference = async (
  tx: Queryable,
  comparisonId: string,
  key: string,
): Promise<Difference | undefined> => {
  const [row] = await tx<Row[]>`
    select key, entry_id as "entryId", theirs, kept from dict_differences
    where comparison_id = ${comparisonId}::uuid and key = ${key} for update`
  return row && differenceOf(row)
}

type Made = Pick<Theirs, 'requestId'>

/** Whether the key, or what the directory has, is an entry of ours by now that was not compared. */
export const hasOther = async (
  tx: Queryable,
  { key, entryId, theirs }: Pick<Difference, 'key' | 'entryId'> & { readonly theirs: Made | null },
): Promise<boolean> => {
  const rows = await tx`
    select from (
      select id from dict_entries where key = ${key} and status not in (${constants(tx, goneStatuses)})
      union all
      select id from dict_entries
      where id = ${theirs?.requestId ?? null}::uuid and status not in (${constants(tx, goneStatuses)})
    ) kept
    where id is distinct from ${entryId}::uuid limit 1`
  return rows.length > 0
}

export const markKept = async (
  tx: Queryable,
  comparisonId: string,
  key: string,
  kept: Side | null,
): Promise<void> => {
  await tx`
    update dict_differences set kept = ${kept}
    where comparison_id = ${comparisonId}::uuid and key = ${key}`
}

/** Our entries of a type that have one of these contents. */
export const ownWithCid = (
  sql: Client,
  type: KeyType,
  cids: readonly string[],
): Promise<readonly OwnCid[]> => sql<OwnCid[]>`
  select id, cid from dict_entries
  where key_type = ${type} and cid = any(${textArray(cids)}::text::text[])`

/** Our entries by the RequestIds that made them; without a CID those that we have asked for and had no answer to. */
export const ownOf = (
  sql: Queryable,
  theirs: readonly Made[],
): Promise<readonly { readonly id: string; readonly cid: string | null }[]> => sql<
  { id: string; cid: string | null }[]
>`
  select e.id, e.cid
  from unnest(${textArray(theirs.map(({ requestId }) => requestId))}::text::uuid[]) as made(id)
    cross join lateral (select id, cid, status from dict_entries where id = made.id limit 1) e
  where e.cid is not null or e.status = 'registering'`

/** Our entries of a type that were changed since then. */
export const ownCidsSince = (
  sql: Client,
  type: KeyType,
  since: Date,
): Promise<readonly OwnCid[]> => sql<OwnCid[]>`
  select id, cid from dict_entries
  where key_type = ${type} and cid is not null and changed_at >= ${since}`
