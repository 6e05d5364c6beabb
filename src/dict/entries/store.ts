import type { KeyType } from '#codecs/dict'
import { type Client, constants, type Queryable } from '#src/platform/database/index.ts'
import { newest, type Place } from '../pages.ts'
import type { EntryRow } from '../types.ts'
import { goneStatuses, type OwnEntry, openStatuses } from './domain.ts'

const entryOf = (row: EntryRow): OwnEntry => ({
  ...row,
  content: JSON.parse(row.content) as OwnEntry['content'],
  wanted: row.wanted === null ? null : (JSON.parse(row.wanted) as OwnEntry['wanted']),
})

const columns = (sql: Queryable) => sql`
  id, created_by as "createdBy", key_type as "keyType", key, status, content, wanted, cid, refusal,
  owned_since as "ownedSince", created_at as "createdAt", version`

/** @returns false: the key is one of ours already */
export const addEntry = async (tx: Queryable, made: OwnEntry): Promise<boolean> => {
  const { id, createdBy, keyType, key, status, content, cid, ownedSince, createdAt } = made
  const { count } = await tx`
    insert into dict_entries (id, created_by, key_type, key, status, content, cid, owned_since,
      created_at, changed_at)
    values (${id}, ${createdBy}, ${keyType}, ${key}, ${status}, ${JSON.stringify(content)}, ${cid},
      ${ownedSince}, ${createdAt}, clock_timestamp())
    on conflict do nothing`
  return count > 0
}

/** Writes what may change. @returns undefined: another has changed it meanwhile */
export const changeEntry = async (
  tx: Queryable,
  before: OwnEntry,
  after: OwnEntry,
): Promise<OwnEntry | undefined> => {
  const { id, key, status, content, wanted, cid, refusal, ownedSince } = after
  const { count } = await tx`
    update dict_entries set key = ${key}, status = ${status}, content = ${JSON.stringify(content)},
      wanted = ${wanted && JSON.stringify(wanted)}, cid = ${cid}, refusal = ${refusal},
      owned_since = ${ownedSince}, changed_at = clock_timestamp(), version = version + 1
    where id = ${id} and version = ${before.version}`
  return count > 0 ? { ...after, version: before.version + 1 } : undefined
}

/**
 * A key went to another, or to another account of ours, by a claim: its entry from before is gone.
 *
 * @param until entries that were made later are not meant; nor is the one that the claim ends with
 */
export const releaseKey = async (
  tx: Queryable,
  { key, claimId }: { readonly key: string; readonly claimId: string | null },
  until: Date,
): Promise<void> => {
  await tx`
    update dict_entries e set status = 'removed', cid = null, wanted = null,
      changed_at = clock_timestamp(), version = version + 1
    where e.key = ${key} and e.status not in (${constants(tx, goneStatuses)}) and e.created_at <= ${until}
      and not exists (select from dict_claims c where c.id = e.id and c.claim_id = ${claimId})`
}

export const findEntry = async (sql: Queryable, id: string): Promise<OwnEntry | undefined> => {
  const [row] = await sql<EntryRow[]>`
    select ${columns(sql)} from dict_entries where id = ${id}::uuid`
  return row && entryOf(row)
}

/** Locks it until the transaction ends. */
export const lockEntry = async (tx: Queryable, id: string): Promise<OwnEntry | undefined> => {
  const [row] = await tx<EntryRow[]>`
    select ${columns(tx)} from dict_entries where id = ${id}::uuid for update`
  return row && entryOf(row)
}

/** Newest first. */
export const listEntries = async (
  sql: Queryable,
  { key, limit, after }: EntryFilter,
): Promise<readonly OwnEntry[]> => {
  const [createdAt, id] = after ?? newest
  const rows = await sql<EntryRow[]>`
    select ${columns(sql)} from dict_entries
    where (created_at, id) < (${createdAt}::timestamptz, ${id}::uuid)
      ${key === undefined ? sql`` : sql`and key = ${key}`}
    order by created_at desc, id desc limit ${limit}`
  return rows.map(entryOf)
}

export type EntryFilter = {
  readonly key: string | undefined
  readonly limit: number
  readonly after: Place | undefined
}

/** Some that wait for the directory, and were not tried for so long. */
export const openEntries = async (
  sql: Client,
  quietMs: number,
  limit: number,
): Promise<readonly { readonly id: string }[]> => sql<{ id: string }[]>`
  select id from dict_entries
  where status in (${constants(sql, openStatuses)})
    and changed_at < now() - make_interval(secs => ${quietMs / 1_000})
  order by changed_at limit ${limit}`

/** It was tried now. */
export const touchEntry = async (sql: Queryable, id: string): Promise<void> => {
  await sql`update dict_entries set changed_at = clock_timestamp() where id = ${id}::uuid`
}

const cidsAtOnce = 10_000

/** The content identifiers of all entries of a type that the directory has. */
export async function* cidsOf(
  sql: Client,
  keyType: KeyType,
): AsyncGenerator<readonly { readonly id: string; readonly cid: string }[]> {
  for (let after = '00000000-0000-0000-0000-000000000000'; ; ) {
    const page = await sql<{ id: string; cid: string }[]>`
      select id, cid from dict_entries
      where key_type = ${keyType} and cid is not null and id > ${after}::uuid
      order by key_type, id limit ${cidsAtOnce}`
    yield page
    const last = page.at(-1)
    if (last === undefined || page.length < cidsAtOnce) return
    after = last.id
  }
}
