import { type Client, deletedMax, type Queryable } from '#src/platform/database/index.ts'
import { bucketPrefix, fullAfterMs } from './policies.ts'
import type { dictLookups } from './schema.ts'

export type Lookup = Readonly<Omit<typeof dictLookups.$inferSelect, 'usedAt'>>

export const addLookup = async (sql: Queryable, lookup: Lookup): Promise<void> => {
  const { endToEndId, account, salt, askedDigest, entryDigest, wasAsked, createdAt } = lookup
  await sql`
    insert into dict_lookups
      (end_to_end_id, account, salt, asked_digest, entry_digest, was_asked, created_at)
    values (${endToEndId}, ${account}, ${salt}, ${askedDigest}, ${entryDigest}, ${wasAsked},
      ${createdAt})`
}

/** One of the account that no payment was made by. */
export const findLookup = async (
  sql: Queryable,
  endToEndId: string,
  account: string,
): Promise<Lookup | undefined> => {
  const [found] = await sql<Lookup[]>`
    select end_to_end_id as "endToEndId", account, salt, asked_digest as "askedDigest",
      entry_digest as "entryDigest", was_asked as "wasAsked", created_at as "createdAt"
    from dict_lookups
    where end_to_end_id = ${endToEndId} and account = ${account} and used_at is null`
  return found
}

/** False: a payment was made by it before. */
export const takeLookup = async (
  tx: Queryable,
  endToEndId: string,
  account: string,
): Promise<boolean> =>
  (
    await tx`
      update dict_lookups set used_at = now()
      where end_to_end_id = ${endToEndId} and account = ${account} and used_at is null`
  ).count > 0

/** @returns how many it forgot, at most {@link deletedMax} */
export const forgetSomeLookups = async (sql: Client, before: Date): Promise<number> =>
  (
    await sql`
      delete from dict_lookups where end_to_end_id = any(array(
        select end_to_end_id from dict_lookups where created_at < ${before}
        order by created_at limit ${deletedMax}
      ))`
  ).count

/** Buckets that are full again: whoever has none has a full one. */
export const forgetFullBuckets = async (sql: Client): Promise<number> =>
  (
    await sql`
      delete from rate_buckets where subject = any(array(
        select subject from rate_buckets
        where starts_with(subject, ${bucketPrefix})
          and at < clock_timestamp() - make_interval(secs => ${fullAfterMs / 1_000})
        limit ${deletedMax}
      ))`
  ).count
