/** SQL of what may have been sent before this book knew of it: found on the chain, or held until somebody decides. */
import {
  type Client,
  type Queryable,
  type Transaction,
  valueOfRow,
} from '#src/platform/database/index.ts'
import { type NetworkId, networkIds } from '../config.ts'
import type { Hex } from '../evm/hex.ts'
import { insertCorrections } from './correction-store.ts'
import { before, deploymentOf } from './store.ts'
import {
  errorColumn,
  type Following,
  type TransactionError,
  type TransactionKind,
  withCall,
} from './transaction.ts'

/** A transaction without a nonce, as it would be sent. */
export type Unsent = {
  readonly id: string
  readonly kind: TransactionKind
  readonly recipient: Hex | undefined
  readonly data: Hex
  readonly value: bigint
  readonly createdAt: Date
  /** The step before it. */
  readonly afterId?: string | undefined
}

const pageMax = 5_000

/** When the first was accepted of what a sender has without a nonce and not held. */
export const unsentSince = async (
  sql: Queryable,
  network: string,
  sender: Hex,
): Promise<Date | undefined> => {
  const [first] = await sql<{ since: Date }[]>`
    select created_at as since from drex_transactions
    where network = ${network} and sender = ${sender} and status in (${before(sql, 'signed')})
      and held is null
    order by created_at, id limit 1`
  return first?.since
}

type Wanted = {
  /** When the last was accepted that is wanted; all if absent. */
  readonly until: Date | undefined
  readonly isWanted: (each: Unsent) => boolean
}

/** What a sender has without a nonce and not held, as far as it is wanted, oldest first. */
export const unsentOf = async (
  sql: Queryable,
  network: string,
  sender: Hex,
  { until, isWanted }: Wanted,
): Promise<readonly Unsent[]> => {
  const unsent: Unsent[] = []
  let last: UnsentRow | undefined
  for (;;) {
    const page = await unsentPage(sql, network, sender, { last, until })
    for (const row of page) {
      const each = { ...withCall(row), value: BigInt(row.value) }
      if (isWanted(each)) unsent.push(each)
    }
    if (page.length < pageMax) return unsent
    last = page.at(-1)
  }
}

type UnsentRow = Omit<Unsent, 'value'> &
  Following & {
    readonly value: string
    /** As exact as the database has it. */
    readonly createdText: string
  }

const unsentPage = async (
  sql: Queryable,
  network: string,
  sender: Hex,
  { last, until }: Pick<Wanted, 'until'> & { readonly last: UnsentRow | undefined },
): Promise<readonly UnsentRow[]> => {
  const rows = await sql`
    select t.id, t.kind, t.recipient, t.data, t.value::text, t.created_at,
      t.created_at::text as created_text, t.after_id, ${deploymentOf(sql)}
    from drex_transactions t
    where t.network = ${network} and t.sender = ${sender} and t.status in (${before(sql, 'signed')})
      and t.held is null
      ${last === undefined ? sql`` : sql`and (t.created_at, t.id) > (${last.createdText}::text::timestamptz, ${last.id})`}
      ${until === undefined ? sql`` : sql`and t.created_at <= ${until}`}
    order by t.created_at, t.id limit ${pageMax}`
  return rows.map((row) => valueOfRow<UnsentRow>(row))
}

/** @returns those of them that have no nonce and are not held */
export const unsentAmong = async (
  sql: Queryable,
  ids: readonly string[],
): Promise<ReadonlySet<string>> => {
  const rows = await sql<{ id: string }[]>`
    select id from drex_transactions
    where id = any(${[...ids]}::text[]) and status in (${before(sql, 'signed')}) and held is null`
  return new Set(rows.map(({ id }) => id))
}

/** Why nobody but a person can tell: the same is on the chain, or the nodes do not tell what is. */
export type HeldReason = 'looks_alike' | 'not_told'

export const reasonOf = ({ candidates }: Pick<Held, 'candidates'>): HeldReason =>
  candidates.length === 0 ? 'not_told' : 'looks_alike'

/**
 * Leaves transactions unsigned, and out of the reach of their expiry, until somebody decides.
 * @returns those that were not held before
 */
export const hold = async (
  sql: Transaction,
  rows: ReadonlyMap<string, readonly Hex[]>,
  reason: TransactionError,
): Promise<readonly Held[]> => {
  if (rows.size === 0) return []
  const held = await sql<HeldRow[]>`
    update drex_transactions t set error = ${errorColumn(reason)}::text::jsonb,
      held = jsonb_build_object('since', now(), 'candidates', v.candidates::jsonb)
    from unnest(
      ${[...rows.keys()]}::text[], ${[...rows.values()].map((each) => JSON.stringify(each))}::text[]
    ) as v(id, candidates)
    where t.id = v.id and t.status in (${before(sql, 'signed')}) and t.held is null
    returning ${columns(sql)}`
  return held.map(withCall)
}

/** Notes that transactions were found on the chain: signed by the book that this one is a copy of. */
export const noteFound = async (
  sql: Transaction,
  found: ReadonlyMap<string, Hex>,
  reason: TransactionError,
): Promise<void> => {
  await sql`
    ${insertCorrections(sql, 'signed', reason)} from (
      select id, 'pending' as status, hash
      from unnest(${[...found.keys()]}::text[], ${[...found.values()]}::text[]) as v(id, hash)
    ) found`
}

export type Held = {
  readonly id: string
  readonly network: NetworkId
  readonly sender: Hex
  readonly kind: TransactionKind
  readonly subject: string
  readonly recipient: Hex | null
  readonly data: Hex
  readonly value: string
  readonly createdAt: Date
  readonly since: Date
  readonly candidates: readonly Hex[]
}

type HeldRow = Held & Following

const columns = (sql: Queryable) => sql`
  t.id, t.network, t.sender, t.kind, t.subject, t.recipient, t.data, t.value::text,
  t.created_at as "createdAt", (t.held ->> 'since')::timestamptz as since,
  t.held -> 'candidates' as candidates, ${deploymentOf(sql)}`

/** All that ever was held and has an id after this: by the index of that, however much else waits. */
const everHeld = (sql: Queryable, afterId: string) => sql`
  unnest(${[...networkIds]}::text[]) n(network) cross join lateral (
    select * from drex_transactions
    where network = n.network and held is not null and id > ${afterId} order by id offset 0) t`

export const listHeld = async (
  sql: Client,
  page: { readonly afterId: string | undefined; readonly limit: number },
): Promise<readonly Held[]> => {
  const rows = await sql<HeldRow[]>`
    select ${columns(sql)} from ${everHeld(sql, page.afterId ?? '')}
    where t.status in (${before(sql, 'signed')}) order by t.id limit ${page.limit}`
  return rows.map(withCall)
}

export const findHeld = async (sql: Queryable, id: string): Promise<Held | undefined> => {
  const [row] = await sql<HeldRow[]>`
    select ${columns(sql)} from drex_transactions t
    where id = ${id} and held is not null and status in (${before(sql, 'signed')})`
  return row && withCall(row)
}

/** Time that a released transaction has at least. */
const releasedMinutes = 10

/** Ends the hold; an approval that it needs besides is still waited for. @returns false if it was not held */
export const release = async (sql: Transaction, id: string): Promise<boolean> => {
  const released = await sql`
    update drex_transactions set held = null, error = null,
      due_at = case due_at when 'infinity' then due_at else now() end,
      expires_at = greatest(expires_at, now() + ${releasedMinutes} * interval '1 minute')
    where id = ${id} and held is not null and status in (${before(sql, 'signed')})`
  return released.count === 1
}

type HeldCount = {
  readonly network: string
  readonly count: number
  /** How many of them the nodes tell nothing about. */
  readonly untold: number
}

export const countHeld = (sql: Client): Promise<readonly HeldCount[]> => sql<HeldCount[]>`
    select t.network, count(*)::int as count,
      (count(*) filter (where t.held -> 'candidates' = '[]'))::int as untold
    from ${everHeld(sql, '')}
    where t.status in (${before(sql, 'signed')}) group by t.network`

export const countHeldOf = async (
  sql: Client,
  network: string,
): Promise<Omit<HeldCount, 'network'>> =>
  (await countHeld(sql)).find((each) => each.network === network) ?? { count: 0, untold: 0 }
