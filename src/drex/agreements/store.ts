/** SQL of agreements, and of what contracts told of them. */
import {
  type Client,
  constants,
  type Queryable,
  rowCount,
  type Transaction,
  valueOfRow,
} from '#src/platform/database/index.ts'
import type { Hex } from '../evm/hex.ts'
import type { Anchor, Place } from '../ledger/place.ts'
import type { Visible } from '../wallets/rights.ts'
import { deliveryEnds, lienEnds, type State, type Step, type Told } from './domain.ts'
import type { Terms } from './terms.ts'

type Common = {
  readonly id: string
  readonly network: string
  /** Undefined until the contract of a lien is on the chain. */
  readonly contract: Hex | undefined
  /** Our party’s, which signs. */
  readonly wallet: Hex
  readonly reference: string | undefined
  readonly account: string
  readonly createdBy: string
  readonly createdAt: Date
}

export type NewAgreement = Common & Terms & { readonly state: State }

export type Agreement = NewAgreement & { readonly changedAt: Date }

const columns = (sql: Queryable) => sql`
  id, kind, network, contract, wallet, part, terms, state, reference, account, created_by,
  created_at, changed_at`

const kept = (state: State) => JSON.stringify(state)

export const insertAgreement = async (sql: Queryable, row: NewAgreement): Promise<void> => {
  const { state } = row
  await sql`
    insert into drex_agreements (id, kind, status, network, contract, wallet, part, terms, state,
      expiry, reference, account, created_by, created_at, changed_at)
    values (${row.id}, ${row.kind}, ${state.status}, ${row.network}, ${row.contract ?? null},
      ${row.wallet}, ${row.part}, ${JSON.stringify(row.terms)}::text::jsonb,
      ${kept(state)}::text::jsonb, ${state.expiry}, ${row.reference ?? null}, ${row.account},
      ${row.createdBy}, ${row.createdAt.toISOString()}, ${row.createdAt.toISOString()})`
}

/**
 * A network that began anew keeps its old agreements under `id@genesis`. The planner would take those of some networks for
 * few, and sort what it can walk in order: of a `case` it knows nothing.
 */
const visible = (sql: Queryable, { account, networks, wallets }: Visible) => sql`
  account = ${account}
  and case when split_part(network, '@', 1) = any(${[...networks]}::text[]) then true else false end
  ${wallets === undefined ? sql`` : sql`and wallet = any(${wallets}::text[])`}`

export const agreementById = async (
  sql: Queryable,
  { id, kind }: { readonly id: string; readonly kind: Agreement['kind'] },
  by: Visible,
): Promise<Agreement | undefined> => {
  const [row] = await sql`
    select ${columns(sql)} from drex_agreements
    where id = ${id} and kind = ${kind} and ${visible(sql, by)}`
  return row && valueOfRow<Agreement>(row)
}

/** In one order, so that two processes cannot block each other. */
export const lockAgreements = async (
  sql: Transaction,
  ids: readonly string[],
): Promise<readonly Agreement[]> => {
  const rows = await sql`
    select ${columns(sql)} from drex_agreements where id = any(${[...ids]}::text[])
    order by id for update`
  return rows.map(valueOfRow<Agreement>)
}

/** Newest first. */
export const listAgreements = async (
  sql: Client,
  filter: {
    readonly kind: Agreement['kind']
    readonly status: string | undefined
    readonly part: Agreement['part'] | undefined
    readonly beforeId: string | undefined
    readonly limit: number
  },
  by: Visible,
): Promise<readonly Agreement[]> => {
  const { kind, status, part, beforeId, limit } = filter
  const known = Object.entries({ kind, part, status }).filter(([, value]) => value !== undefined)
  const last = known.at(-1)?.[0] ?? 'kind'
  // Each has an index that ends in the id. A range of one value keeps its column in the order, so that no walk of all ids
  // gives that order: the planner would take one, and pass over whatever is of another kind.
  const conditions = known.map(([column, value]) =>
    column === last
      ? sql`and ${sql(column)} between ${value as string} and ${value as string}`
      : sql`and ${sql(column)} = ${value as string}`,
  )
  const rows = await sql`
    select ${columns(sql)} from drex_agreements where ${visible(sql, by)} ${conditions}
      ${beforeId === undefined ? sql`` : sql`and id < ${beforeId}`}
    order by ${sql(last)} desc, id desc limit ${rowCount(sql, limit)}`
  return rows.map(valueOfRow<Agreement>)
}

export const saveState = async (sql: Transaction, id: string, state: State): Promise<void> => {
  await sql`
    update drex_agreements set status = ${state.status}, state = ${kept(state)}::text::jsonb,
      expiry = ${state.expiry}, until_block = null, changed_at = now()
    where id = ${id}`
}

export const saveContract = async (sql: Transaction, id: string, contract: Hex): Promise<void> => {
  await sql`update drex_agreements set contract = ${contract} where id = ${id}`
}

export type OwnStep = Step & { readonly id: string; readonly data: Hex; readonly sender: Hex }

export const ownSteps = async (
  sql: Queryable,
  ids: readonly string[],
): Promise<ReadonlyMap<string, readonly OwnStep[]>> => {
  const rows = await sql`
    select id, subject, kind, status, sender, coalesce(mined_hash, hash) as hash, error,
      case when kind <> 'deploy' then data else '0x' end as data
    from drex_transactions where subject = any(${[...ids]}::text[]) order by id`
  return Map.groupBy(
    rows.map(valueOfRow<OwnStep & { readonly subject: string }>),
    ({ subject }) => subject,
  )
}

/** The address of the contract that a deployment made, once it and what lets others call it are confirmed. */
export const deployedBy = async (sql: Queryable, deployment: string): Promise<Hex | undefined> => {
  const [row] = await sql<{ address: Hex }[]>`
    select c.address from drex_contracts c
    join drex_transactions t on t.id = c.transaction_id
    left join drex_transactions p on p.id = c.permit_transaction_id
    where c.transaction_id = ${deployment} and c.address is not null
      and t.status = 'confirmed' and coalesce(p.status, 'confirmed') = 'confirmed'`
  return row?.address
}

export type Event = Told & {
  readonly agreementId: string
  readonly blockNumber: number
  readonly logIndex: number
}

export const eventsOf = async (
  sql: Queryable,
  ids: readonly string[],
): Promise<ReadonlyMap<string, readonly Event[]>> => {
  const rows = await sql`
    select agreement_id, block_number, log_index, hash, name, args, mismatch
    from drex_agreement_events where agreement_id = any(${[...ids]}::text[])
    order by agreement_id, block_number, log_index`
  return Map.groupBy(
    rows.map((row) => {
      const { blockNumber, ...event } = valueOfRow<
        Omit<Event, 'blockNumber'> & { blockNumber: bigint }
      >(row)
      return { ...event, blockNumber: Number(blockNumber) }
    }),
    ({ agreementId }) => agreementId,
  )
}

export const keepEvents = async (
  sql: Transaction,
  network: string,
  events: readonly Event[],
): Promise<void> => {
  if (events.length === 0) return
  const rows = events.map((each) => ({
    agreement_id: each.agreementId,
    network,
    block_number: each.blockNumber,
    log_index: each.logIndex,
    hash: each.hash,
    name: each.name,
    args: each.args,
    mismatch: each.mismatch ?? null,
  }))
  await sql`
    insert into drex_agreement_events (agreement_id, network, block_number, log_index, hash, name,
      args, mismatch)
    select agreement_id, network, block_number, log_index, hash, name, args, mismatch
    from json_to_recordset(${JSON.stringify(rows)}::text::json) as told (
      agreement_id text, network text, block_number bigint, log_index integer, hash text,
      name text, args jsonb, mismatch text)
    on conflict do nothing`
}

/** @returns the agreements that something was told of in a block that is gone */
export const forgetEvents = async (
  sql: Transaction,
  network: string,
  aboveBlock: number,
): Promise<readonly string[]> => {
  const rows = await sql<{ id: string }[]>`
    delete from drex_agreement_events where network = ${network} and block_number > ${aboveBlock}
    returning agreement_id as id`
  return [...new Set(rows.map(({ id }) => id))]
}

export type Position = { readonly place: Place; readonly anchors: readonly Anchor[] }

export const positionOf = async (
  sql: Queryable,
  network: string,
): Promise<Position | undefined> => {
  const [row] = await sql<
    { block_number: bigint; block_hash: Hex | null; anchors: readonly Anchor[] }[]
  >`
    select block_number, block_hash, anchors from drex_agreement_positions
    where network = ${network}`
  if (row === undefined) return undefined
  const place = { number: Number(row.block_number), hash: row.block_hash ?? undefined }
  return { place, anchors: row.anchors }
}

/** Begins at a block, where nothing was read yet. */
export const beginPosition = async (
  sql: Queryable,
  network: string,
  block: number,
): Promise<void> => {
  await sql`
    insert into drex_agreement_positions (network, block_number) values (${network}, ${block})
    on conflict do nothing`
}

/** @returns false if another process has moved it meanwhile */
export const movePosition = async (
  sql: Queryable,
  network: string,
  from: Place,
  { place, anchors }: Position,
): Promise<boolean> => {
  const moved = await sql`
    update drex_agreement_positions set block_number = ${place.number},
      block_hash = ${place.hash ?? null}, anchors = ${JSON.stringify(anchors)}::text::jsonb
    where network = ${network} and block_number = ${from.number}
      and block_hash is not distinct from ${from.hash ?? null}`
  return moved.count === 1
}

/** Until the transaction ends, nobody moves the position or takes over an agreement that needs earlier events. */
export const lockPosition = async (sql: Transaction, network: string): Promise<void> => {
  await sql`select from drex_agreement_positions where network = ${network} for update`
}

/** Reads again what comes after a block; what is known of it already stays as it is. */
export const rewindPosition = async (
  sql: Transaction,
  network: string,
  block: number,
): Promise<boolean> => {
  await lockPosition(sql, network)
  const position = await positionOf(sql, network)
  if (position === undefined || position.place.number <= block) return true
  const anchors = position.anchors.filter(({ number }) => number <= block)
  const place = { number: block, hash: undefined }
  return movePosition(sql, network, position.place, { place, anchors })
}

/** Whether something may still be told of any after a block. */
export const isFollowing = async (
  sql: Queryable,
  network: string,
  block: number,
): Promise<boolean> => {
  const rows = await sql`
    (select 1 from drex_agreements where network = ${network} and until_block is null limit 1)
    union all
    (select 1 from drex_agreements where network = ${network} and until_block > ${block} limit 1)`
  return rows.length > 0
}

/** A contract that told something, and of which operation; no number where it keeps one agreement alone. */
export type About = { readonly contract: Hex; readonly number: string }

/** The agreements that these events may concern, and of which something may still be told after a block. */
export const concerned = async (
  sql: Queryable,
  network: string,
  block: number,
  told: readonly About[],
): Promise<readonly Agreement[]> => {
  if (told.length === 0) return []
  const rows = await sql`
    select ${columns(sql)} from (
      select distinct at, number from unnest(
        ${told.map(({ contract }) => contract)}::text[], ${told.map(({ number }) => number)}::text[]
      ) as t(at, number)
    ) told cross join lateral (
      select * from drex_agreements
      where network = ${network} and contract = told.at and coalesce(terms ->> 'number', '') = told.number
        and (until_block is null or until_block > ${block})
      offset 0
    ) agreement`
  return rows.map(valueOfRow<Agreement>)
}

/** Notes until which block ended agreements are still followed: their end may be taken back until then. */
export const endFollowing = async (
  sql: Transaction,
  network: string,
  at: { readonly untilBlock: number; readonly blockTime: number },
): Promise<void> => {
  await sql`
    update drex_agreements set until_block = ${at.untilBlock}
    where network = ${network} and ${isOver(sql)} and coalesce(expiry, 0) <= ${at.blockTime}`
}

/** The same condition as the index has: ended, and not yet noted as such. */
const isOver = (sql: Queryable) => sql`
  until_block is null and (kind = 'delivery' and status in (${constants(sql, deliveryEnds)})
    or kind = 'lien' and status in (${constants(sql, lienEnds)}))`
