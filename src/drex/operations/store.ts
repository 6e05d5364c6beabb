import type { Row } from 'postgres'
import { type Client, type Queryable, valueOfRow } from '#src/platform/database/index.ts'
import type { TransactionStatus } from '../domain.ts'
import type { TransactionError } from '../engine/transaction.ts'
import type { Hex } from '../evm/hex.ts'
import type { Visible } from '../wallets/rights.ts'
import type { OperationName } from './index.ts'

export type NewOperation = {
  readonly id: string
  readonly kind: OperationName
  /** The transaction of its last step. */
  readonly transactionId: string
  readonly network: string
  readonly signer: Hex
  /** As the caller wrote them. */
  readonly params: unknown
  readonly reference: string | undefined
  readonly account: string
  readonly createdBy: string
  readonly createdAt: Date
}

export type Operation = NewOperation & {
  readonly status: TransactionStatus
  readonly hash: Hex | undefined
  readonly blockHash: Hex | undefined
  /** What its last step calls. */
  readonly call: { readonly sender: Hex; readonly recipient: Hex; readonly data: Hex }
  readonly error: TransactionError | undefined
  readonly updatedAt: Date
}

const read = (row: Row): Operation => {
  const { sender, recipient, data, ...value } = valueOfRow<
    Omit<Operation, 'call'> & Operation['call']
  >(row)
  return { ...value, call: { sender, recipient, data } }
}

export const insertOperation = async (sql: Queryable, row: NewOperation): Promise<void> => {
  await sql`
    insert into drex_operations (id, kind, transaction_id, network, signer, params, reference,
      account, created_by, created_at)
    values (${row.id}, ${row.kind}, ${row.transactionId}, ${row.network}, ${row.signer},
      ${JSON.stringify(row.params)}::text::jsonb, ${row.reference ?? null}, ${row.account},
      ${row.createdBy}, ${row.createdAt.toISOString()})`
}

/** An operation and the transaction that is its last step. */
const selection = (sql: Queryable) => sql`
  select o.*, t.status, coalesce(t.mined_hash, t.hash) as hash, t.block_hash, t.error,
    t.sender, t.recipient, t.data,
    coalesce(t.settled_at, t.mined_at, t.broadcast_at, t.signed_at, o.created_at) as updated_at
  from drex_operations o join drex_transactions t on t.id = o.transaction_id`

/** A network that began anew keeps its old operations under `id@genesis`. */
const visible = (sql: Queryable, { account, networks, wallets }: Visible) => sql`
  o.account = ${account} and split_part(o.network, '@', 1) = any(${[...networks]}::text[])
  ${wallets === undefined ? sql`` : sql`and o.signer = any(${wallets}::text[])`}`

export const operationById = async (
  sql: Queryable,
  id: string,
  by: Visible,
): Promise<Operation | undefined> => {
  const [row] = await sql`${selection(sql)} where o.id = ${id} and ${visible(sql, by)}`
  return row && read(row)
}

/** Operations of all accounts, to tell of their ends. */
export const operationsById = async (
  sql: Queryable,
  ids: readonly string[],
): Promise<readonly Operation[]> => {
  if (ids.length === 0) return []
  const rows = await sql`${selection(sql)} where o.id = any(${[...ids]}::text[])`
  return rows.map(read)
}

/** Newest first. */
export const listOperations = async (
  sql: Client,
  filter: { readonly beforeId: string | undefined; readonly limit: number },
  by: Visible,
): Promise<readonly Operation[]> => {
  const { beforeId, limit } = filter
  const rows = await sql`
    ${selection(sql)} where ${visible(sql, by)}
    ${beforeId === undefined ? sql`` : sql`and o.id < ${beforeId}`}
    order by o.id desc limit ${limit}`
  return rows.map(read)
}
