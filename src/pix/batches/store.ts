import { type Queryable, textArray } from '#src/platform/database/index.ts'
import { countOf, type Listed, type ListRequest, pageOf } from '../pages.ts'
import type { Batch, BatchItem, BatchItemStatus, BatchName, ItemEnd } from './domain.ts'

type BatchRow = { readonly id: bigint; readonly description: string; readonly createdAt: Date }

/** False: the account has a batch of the number. */
export const addBatch = async (
  tx: Queryable,
  { account, id }: BatchName,
  description: string,
  createdAt: Date,
): Promise<boolean> => {
  const added = await tx`
    insert into pix_batches (account, id, description, created_at)
    values (${account}, ${id}, ${description}, ${createdAt}) on conflict do nothing`
  return added.count === 1
}

/** Locks the batch until the transaction ends, and says what is new and whose turn it is. False: there is none. */
export const beginTurn = async (
  tx: Queryable,
  { account, id }: BatchName,
  turn: string,
  description: string | undefined,
): Promise<boolean> => {
  const locked = await tx`
    update pix_batches set turn = ${turn},
      description = coalesce(${description ?? null}, description)
    where account = ${account} and id = ${id}`
  return locked.count === 1
}

/** Locks the batch until the transaction ends. False: the turn of another has begun. */
export const lockTurn = async (
  tx: Queryable,
  { account, id }: BatchName,
  turn: string,
): Promise<boolean> => {
  const locked = await tx`
    select from pix_batches where account = ${account} and id = ${id} and turn = ${turn}
    for update`
  return locked.count === 1
}

/** Claims the txids for the batch. False: a charge, or another batch, has one of them. */
export const claimTxids = async (
  tx: Queryable,
  { account, id }: BatchName,
  txids: readonly string[],
): Promise<boolean> => {
  const claimed = await tx`
    insert into pix_batch_items (account, txid, batch_id, position, status)
    select ${account}, txid, ${id}, position, 'EM_PROCESSAMENTO'
    from unnest(${textArray(txids)}::text::text[]) with ordinality as given (txid, position)
    where not exists (
      select from pix_charges
      where account = ${account} and pix_charges.txid between given.txid and given.txid
      order by pix_charges.txid offset 0
    )
    order by txid collate "C"
    on conflict do nothing`
  return claimed.count === txids.length
}

/** The txids of a batch, in its order. */
export const txidsOf = async (
  tx: Queryable,
  { account, id }: BatchName,
): Promise<readonly string[]> => {
  const rows = await tx<{ txid: string }[]>`
    select txid from pix_batch_items where account = ${account} and batch_id = ${id}
    order by position`
  return rows.map(({ txid }) => txid)
}

/** Notes how items ended. What says nothing of its making leaves that as it is. */
export const endItems = async (
  tx: Queryable,
  account: string,
  items: readonly ItemEnd[],
): Promise<void> => {
  await tx`
    update pix_batch_items item set problem = ended.problem,
      status = coalesce(ended.status,
        case when item.created_at is null then 'NEGADA' else 'CRIADA' end),
      created_at = coalesce(ended."createdAt", item.created_at)
    from json_to_recordset(${JSON.stringify(items)}::text::json)
      as ended (txid text, status text, problem text, "createdAt" timestamptz)
    where item.account = ${account} and item.txid = ended.txid`
}

/** Whether a batch has asked for the charge, or for a change of it, in vain. */
export const isDenied = async (tx: Queryable, account: string, txid: string): Promise<boolean> => {
  const [found] = await tx<{ status: BatchItemStatus }[]>`
    select status from pix_batch_items where account = ${account} and txid = ${txid}`
  return found !== undefined && found.status !== 'CRIADA'
}

export const findBatch = async (
  sql: Queryable,
  { account, id }: BatchName,
): Promise<Batch | undefined> => {
  const rows = await sql<BatchRow[]>`
    select id, description, created_at as "createdAt" from pix_batches
    where account = ${account} and id = ${id}`
  return (await withItems(sql, account, rows))[0]
}

/** In the order in which they were made. */
export const listBatches = async (
  sql: Queryable,
  account: string,
  request: ListRequest,
): Promise<Listed<Batch>> => {
  const within = sql`
    from pix_batches where account = ${account}
      and created_at between ${request.from} and ${request.to}`
  const [rows, total] = await Promise.all([
    sql<BatchRow[]>`
      select id, description, created_at as "createdAt" ${within}
      order by created_at, id ${pageOf(sql, request)}`,
    countOf(sql, within),
  ])
  return { items: await withItems(sql, account, rows), total }
}

const withItems = async (
  sql: Queryable,
  account: string,
  rows: readonly BatchRow[],
): Promise<readonly Batch[]> => {
  if (rows.length === 0) return []
  const ids = rows.map(({ id }) => String(id))
  const items = await sql<(BatchItem & { readonly batchId: bigint })[]>`
    select batch_id as "batchId", txid, status, problem, created_at as "createdAt"
    from pix_batch_items
    where account = ${account} and batch_id = any(${textArray(ids)}::text::bigint[])
    order by batch_id, position`
  const byBatch = Map.groupBy(items, ({ batchId }) => batchId)
  return rows.map((row) => ({ ...row, id: Number(row.id), items: byBatch.get(row.id) ?? [] }))
}

/**
 * Locks the locations that charges of a batch are to have, and those that they have, in the order that all batches keep:
 * whoever took them charge by charge would wait for another batch that names them in another order.
 */
export const lockLocationsFor = async (
  tx: Queryable,
  account: string,
  txids: readonly string[],
  locationIds: readonly number[],
): Promise<void> => {
  await tx`
    with wanted as materialized (
      select id from unnest(${textArray(locationIds.map(String))}::text::bigint[]) as named(id)
      union
      select l.id from unnest(${textArray(txids)}::text::text[]) as charged(txid)
        cross join lateral (
          select id from pix_charges where account = ${account} and txid = charged.txid limit 1) c
        cross join lateral (select id from pix_locations where charge_id = c.id limit 1) l
    )
    select from pix_locations
    where id = any(array(select id from wanted)) and account = ${account}
    order by id for update`
}
