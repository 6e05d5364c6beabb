import { type Queryable, textArray } from '#src/platform/database/index.ts'
import type { Day } from '#src/platform/runtime/index.ts'
import { debtorTaxIdOf } from '../charges/domain.ts'
import { countOf, itemsMax, type Listed, type ListRequest, narrowedPage, pageOf } from '../pages.ts'
import { randomHex } from '../random-hex.ts'
import type { Recurrence, RecurrenceLocation, RecurrenceStatus, RecurrenceTerms } from './domain.ts'

type Row = Omit<Recurrence, 'terms' | 'history' | 'payer' | 'ending' | 'location'> & {
  readonly terms: string
  readonly history: string
  readonly payer: string | null
  readonly ending: string | null
  readonly locationId: bigint | null
  readonly token: string | null
  readonly locatedAt: Date | null
}

const recurrenceOf = ({ locationId, token, locatedAt, ...row }: Row): Recurrence => ({
  ...row,
  terms: JSON.parse(row.terms) as RecurrenceTerms,
  history: JSON.parse(row.history) as Recurrence['history'],
  payer: row.payer === null ? null : (JSON.parse(row.payer) as Recurrence['payer']),
  ending: row.ending === null ? null : (JSON.parse(row.ending) as Recurrence['ending']),
  location:
    locationId === null || token === null || locatedAt === null
      ? undefined
      : { id: locationId, token, recurrenceId: row.id, createdAt: locatedAt },
})

const columns = (sql: Queryable) => sql`
  r.id, r.account, r.tax_id as "taxId", r.receiver_name as "receiverName", r.agreement, r.status,
  r.terms, r.history, r.payer, r.journey, r.ending, r.created_at as "createdAt", r.location_id as "locationId", l.token,
  l.created_at as "locatedAt"`

/** Joined by key, one for each row: the planner does not know how few there are, and would read all locations. */
const withLocation = (sql: Queryable) => sql`
  left join lateral (
    select * from pix_recurrence_locations where id = r.location_id limit 1) l on true`

export const addRecurrence = async (tx: Queryable, made: Recurrence): Promise<void> => {
  const { id, account, taxId, receiverName, agreement, status, terms, history, createdAt } = made
  await tx`
    insert into pix_recurrences (id, account, tax_id, receiver_name, agreement, status,
      debtor_tax_id, terms, history, location_id, created_at)
    values (${id}, ${account}, ${taxId}, ${receiverName}, ${agreement}, ${status},
      ${debtorTaxIdOf(terms.debtor) ?? ''}, ${JSON.stringify(terms)}, ${JSON.stringify(history)},
      ${made.location?.id ?? null}, ${createdAt})`
}

/** Writes what a revision, or the payer's institution, may change. */
export const reviseRecurrence = async (tx: Queryable, after: Recurrence): Promise<void> => {
  const { id, status, terms, history, payer, journey, ending, location } = after
  const textOf = (value: object | null): string | null => value && JSON.stringify(value)
  await tx`
    update pix_recurrences set status = ${status}, terms = ${JSON.stringify(terms)},
      history = ${JSON.stringify(history)}, payer = ${textOf(payer)}, journey = ${journey},
      ending = ${textOf(ending)}, location_id = ${location?.id ?? null}
    where id = ${id}`
}

/** The one of an id, by which alone it is looked for: the index of an account may look as good while the plan is made. */
const named = (sql: Queryable, id: string) => sql`(
  select * from pix_recurrences where id = ${id} offset 0)`

export const findRecurrence = async (
  sql: Queryable,
  account: string,
  id: string,
): Promise<Recurrence | undefined> => {
  const [row] = await sql<Row[]>`
    select ${columns(sql)} from ${named(sql, id)} r ${withLocation(sql)}
    where r.account = ${account}`
  return row && recurrenceOf(row)
}

/** Locks it until the transaction ends. */
export const lockRecurrence = async (
  tx: Queryable,
  account: string,
  id: string,
): Promise<Recurrence | undefined> => {
  await tx`
    select from pix_recurrences
    where id = (select id from ${named(tx, id)} r where account = ${account}) for update`
  return findRecurrence(tx, account, id)
}

/**
 * Some that their payers have authorised, and that wait for us no longer: the charge that they begin with is paid, or
 * was to be paid since a moment.
 */
export const waitingRecurrences = async (
  sql: Queryable,
  since: Date,
  limit: number,
  after: { readonly id: string } = { id: '' },
): Promise<readonly { readonly id: string }[]> => sql<{ id: string }[]>`
  select id from pix_recurrences r
  where status = 'CRIADA' and journey is not null and id > ${after.id} and (
    (payer::json #>> '{waiting,since}') <= ${since.toISOString()}
    or exists (
      select from pix_charges c where c.account = r.account
        and c.txid = (r.terms::json ->> 'firstTxid') and c.status = 'CONCLUIDA'
    )
  )
  order by id limit ${limit}`

export type OutlivedRecurrence = { readonly endsOn: Day; readonly id: string }

/** Some recurrences that nobody authorised by their last day, the longest past first. */
export const outlivedRecurrences = async (
  sql: Queryable,
  today: Day,
  limit: number,
  after: OutlivedRecurrence = { endsOn: '', id: '' },
): Promise<readonly OutlivedRecurrence[]> => sql<OutlivedRecurrence[]>`
  select (terms::json ->> 'endsOn') as "endsOn", id from pix_recurrences
  where status = 'CRIADA' and (terms::json ->> 'endsOn') < ${today}
    and ((terms::json ->> 'endsOn'), id) > (${after.endsOn}, ${after.id})
  order by (terms::json ->> 'endsOn'), id limit ${limit}`

export const findRecurrences = async (
  sql: Queryable,
  ids: readonly string[],
): Promise<readonly Recurrence[]> => {
  if (ids.length === 0) return []
  const rows = await sql<Row[]>`
    select ${columns(sql)} from pix_recurrences r ${withLocation(sql)}
    where r.id = any(${textArray(ids)}::text::text[]) order by r.id`
  return rows.map(recurrenceOf)
}

/** The recurrences of these ids, locked in one order until the transaction ends. */
export const lockRecurrences = async (
  tx: Queryable,
  ids: readonly string[],
): Promise<readonly Recurrence[]> => {
  const locked = await tx`
    select from pix_recurrences where id = any(${textArray(ids)}::text::text[])
    order by id for update`
  return locked.count === 0 ? [] : findRecurrences(tx, ids)
}

/** Anybody who knows the token may read what it shows. */
export const recurrenceByToken = async (
  sql: Queryable,
  token: string,
): Promise<Recurrence | undefined> => {
  const [row] = await sql<Row[]>`
    select ${columns(sql)} from pix_recurrence_locations l
      join pix_recurrences r on r.location_id = l.id
    where l.token = ${token}`
  return row && recurrenceOf(row)
}

/** The CNPJ and name of each receiver of an account, by the CNPJ. */
export const companiesOf = (
  sql: Queryable,
  account: string,
): Promise<readonly { readonly taxId: string; readonly name: string }[]> => sql<
  { taxId: string; name: string }[]
>`
  select distinct on (tax_id) tax_id as "taxId", name from pix_receivers
  where account = ${account} and length(tax_id) = 14 order by tax_id, key`

/** City and name for the QR code of a receiver. */
export const printedOf = async (
  sql: Queryable,
  account: string,
  taxId: string,
): Promise<{ readonly name: string; readonly city: string } | undefined> => {
  const [found] = await sql<{ name: string; city: string }[]>`
    select name, city from pix_receivers where account = ${account} and tax_id = ${taxId}
    order by key limit 1`
  return found
}

export type RecurrenceFilter = ListRequest & {
  readonly status: RecurrenceStatus | undefined
  readonly debtorTaxId: string | undefined
  readonly isShown: boolean | undefined
  readonly agreement: string | undefined
}

/** In the order in which they were made. */
export const listRecurrences = async (
  sql: Queryable,
  account: string,
  filter: RecurrenceFilter,
): Promise<Listed<Recurrence>> => {
  const { from, to, status, debtorTaxId, isShown, agreement } = filter
  const all = sql`
    from pix_recurrences where account = ${account} and created_at between ${from} and ${to}`
  const given = {
    debtor_tax_id: debtorTaxId,
    agreement,
    status,
    '(location_id is not null)': isShown,
  }
  return narrowedPage(sql, { from: all, order: sql`created_at, id` }, given, async (matching) => {
    const rows = await sql<Row[]>`
      select ${columns(sql)}
      from (select * ${matching} ${pageOf(sql, filter)}) r
        ${withLocation(sql)} order by r.created_at, r.id`
    return rows.map(recurrenceOf)
  })
}

export const addRecurrenceLocation = async (
  tx: Queryable,
  account: string,
  now: Date,
): Promise<RecurrenceLocation> => {
  const token = randomHex()
  const [added] = await tx<{ id: bigint }[]>`
    insert into pix_recurrence_locations (account, token, created_at)
    values (${account}, ${token}, ${now}) returning id`
  if (added === undefined) throw new Error('the location was not stored')
  return { id: added.id, token, recurrenceId: null, createdAt: now }
}

const locationColumns = (sql: Queryable) =>
  sql`l.id, l.token, r.id as "recurrenceId", l.created_at as "createdAt"`

const withRecurrence = (sql: Queryable) => sql`
  left join lateral (select * from pix_recurrences where location_id = l.id limit 1) r on true`

export const findRecurrenceLocation = async (
  sql: Queryable,
  account: string,
  id: bigint,
): Promise<RecurrenceLocation | undefined> => {
  const [found] = await sql<RecurrenceLocation[]>`
    select ${locationColumns(sql)} from pix_recurrence_locations l ${withRecurrence(sql)}
    where l.id = ${id} and l.account = ${account}`
  return found
}

/** Locks it until the transaction ends, so that two recurrences do not take it. */
export const lockRecurrenceLocation = async (
  tx: Queryable,
  account: string,
  id: bigint,
): Promise<RecurrenceLocation | undefined> => {
  await tx`
    select from pix_recurrence_locations where id = ${id} and account = ${account} for update`
  return findRecurrenceLocation(tx, account, id)
}

/** Makes the location show nothing. */
export const unlinkRecurrence = async (tx: Queryable, id: bigint): Promise<void> => {
  await tx`update pix_recurrences set location_id = null where location_id = ${id}`
}

export type RecurrenceLocationFilter = ListRequest & {
  readonly isUsed: boolean | undefined
  readonly agreement: string | undefined
}

/** In the order in which they were made. */
export const listRecurrenceLocations = async (
  sql: Queryable,
  account: string,
  { isUsed, agreement, ...request }: RecurrenceLocationFilter,
): Promise<Listed<RecurrenceLocation>> => {
  const all = sql`where l.account = ${account} and l.created_at between ${request.from} and ${request.to}`
  // We also look at locations that show none, or one of another agreement: at most as many as a list may hold.
  if (isUsed !== undefined || agreement !== undefined) {
    const total = await countOf(sql, sql`from pix_recurrence_locations l ${all}`)
    if (total > itemsMax) return { items: [], total }
  }
  const matching = sql`
    from pix_recurrence_locations l ${withRecurrence(sql)} ${all}
      ${isUsed === undefined ? sql`` : sql`and (r.id is not null) = ${isUsed}`}
      ${agreement === undefined ? sql`` : sql`and r.agreement = ${agreement}`}`
  const [items, total] = await Promise.all([
    sql<RecurrenceLocation[]>`
      select ${locationColumns(sql)} ${matching}
      order by l.created_at, l.id ${pageOf(sql, request)}`,
    countOf(sql, matching),
  ])
  return { items, total }
}
