import { type Queryable, textArray } from '#src/platform/database/index.ts'
import { type Listed, type ListRequest, narrowedPage, pageOf } from '../pages.ts'
import { randomHex } from '../random-hex.ts'
import type { Location, LocationKind } from './domain.ts'

export type LocationFilter = ListRequest & {
  readonly isUsed: boolean | undefined
  readonly kind: LocationKind | undefined
}

const columns = (sql: Queryable) => sql`
  l.id, l.account, l.token, l.kind, l.charge_id as "chargeId", c.txid, l.created_at as "createdAt"`

/** To join the charge of each location `l` as `c`. By its key: of a plain join the planner may read all charges. */
const withCharge = (sql: Queryable) => sql`
  left join lateral (select txid from pix_charges where id = l.charge_id limit 1) c on true`

export const addLocation = async (
  sql: Queryable,
  { account, kind }: { readonly account: string; readonly kind: LocationKind },
  now: Date,
): Promise<Location> => {
  const token = randomHex()
  const [added] = await sql<{ id: bigint }[]>`
    insert into pix_locations (account, token, kind, created_at)
    values (${account}, ${token}, ${kind}, ${now}) returning id`
  if (added === undefined) throw new Error('the location was not stored')
  return { id: added.id, account, token, kind, chargeId: null, txid: null, createdAt: now }
}

/** Makes a location show a charge; the charge's former location then shows nothing. */
export const linkLocation = async (
  tx: Queryable,
  location: bigint,
  chargeId: string,
): Promise<void> => {
  await tx`
    update pix_locations set charge_id = null where charge_id = ${chargeId} and id <> ${location}`
  await tx`update pix_locations set charge_id = ${chargeId} where id = ${location}`
  await tx`update pix_charges set is_shown = true where id = ${chargeId}`
}

/**
 * Makes a location show its charge no more, unless it has come to show another meanwhile. Locks the charge first, as
 * what changes a charge does before it locks a location.
 */
export const unlinkLocation = async (
  tx: Queryable,
  id: bigint,
  chargeId: string,
): Promise<void> => {
  await tx`select from pix_charges where id = ${chargeId} for update`
  const { count } = await tx`
    update pix_locations set charge_id = null where id = ${id} and charge_id = ${chargeId}`
  if (count > 0) await tx`update pix_charges set is_shown = false where id = ${chargeId}`
}

export const findLocation = async (
  sql: Queryable,
  account: string,
  id: bigint,
  lock = sql``,
): Promise<Location | undefined> => {
  const [found] = await sql<Location[]>`
    select ${columns(sql)} from pix_locations l ${withCharge(sql)}
    where l.id = ${id} and l.account = ${account} ${lock}`
  return found
}

/** Locks it until the transaction ends. */
export const lockLocation = (tx: Queryable, account: string, id: bigint) =>
  findLocation(tx, account, id, tx`for update of l`)

/** The locations of charges, by the charge. */
export const locationsOf = async (
  sql: Queryable,
  chargeIds: readonly string[],
): Promise<ReadonlyMap<string, Location>> => {
  if (chargeIds.length === 0) return new Map()
  const found = await sql<Location[]>`
    select ${columns(sql)}
    from unnest(${textArray(chargeIds)}::text::uuid[]) as wanted(id)
      cross join lateral (select * from pix_locations where charge_id = wanted.id limit 1) l
      cross join lateral (select txid from pix_charges where id = wanted.id limit 1) c`
  return new Map(found.map((location) => [location.chargeId ?? '', location]))
}

/** In the order in which they were made. */
export const listLocations = async (
  sql: Queryable,
  account: string,
  filter: LocationFilter,
): Promise<Listed<Location>> => {
  const { from, to, isUsed, kind } = filter
  const all = sql`
    from pix_locations where account = ${account} and created_at between ${from} and ${to}`
  return narrowedPage(
    sql,
    { from: all, order: sql`created_at, id` },
    { '(charge_id is not null)': isUsed, kind },
    async (matching) => sql<Location[]>`
      select ${columns(sql)}
      from (select * ${matching} ${pageOf(sql, filter)}) l
        ${withCharge(sql)} order by l.created_at, l.id`,
  )
}
