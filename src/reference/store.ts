import type { Client, Queryable } from '#src/platform/database/index.ts'
import type { ListName, Provenance } from './domain.ts'

export type StoredList = Provenance & { readonly items: string; readonly storedAt: Date }

export const putList = async (
  tx: Queryable,
  name: ListName,
  { source, asOf, items, storedAt }: StoredList,
): Promise<void> => {
  await tx`
    insert into reference_lists (name, source, as_of, items, stored_at)
    values (${name}, ${source}, ${asOf}, ${items}, ${storedAt})
    on conflict (name) do update set source = excluded.source, as_of = excluded.as_of,
      items = excluded.items, stored_at = excluded.stored_at`
}

/** @returns when each list was stored, in milliseconds since 1970 */
export const listVersions = async (sql: Client): Promise<ReadonlyMap<ListName, number>> => {
  const rows = await sql<{ name: ListName; storedAt: Date }[]>`
    select name, stored_at as "storedAt" from reference_lists`
  return new Map(rows.map(({ name, storedAt }) => [name, storedAt.getTime()]))
}

export const findList = async (sql: Client, name: ListName): Promise<StoredList | undefined> => {
  const [found] = await sql<StoredList[]>`
    select source, as_of::text as "asOf", items, stored_at as "storedAt"
    from reference_lists where name = ${name}`
  return found
}
