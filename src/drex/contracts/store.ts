import type { PendingQuery, Row as PostgresRow } from 'postgres'
import {
  type Client,
  optionalNumber,
  type Queryable,
  rowCount,
  valueOfRow,
} from '#src/platform/database/index.ts'
import type { TransactionStatus } from '../domain.ts'
import type { TransactionError } from '../engine/transaction.ts'
import type { Hex } from '../evm/hex.ts'
import type { Wallet } from '../wallets/store.ts'

/** No account has this name. Everybody sees what is under it. */
export const gatewayAccount = 'gateway:'

export type NewContract = {
  readonly id: string
  readonly network: string
  readonly address: Hex | undefined
  readonly template: string | undefined
  readonly label: string
  readonly params: unknown
  readonly abi: readonly unknown[]
  readonly deployer: Hex | undefined
  readonly transactionId: string | undefined
  readonly permitTransactionId: string | undefined
  /** Whose it is; `gatewayAccount` for a currency of the settings. */
  readonly account: string
  readonly createdBy: string
  readonly createdAt: Date
}

export type Contract = NewContract & {
  /** The status of the deployment; undefined for a registered contract. */
  readonly status: TransactionStatus | undefined
  readonly hash: Hex | undefined
  readonly error: TransactionError | undefined
  readonly permitStatus: TransactionStatus | undefined
}

/** @returns false if the account has a contract of this address already */
export const insertContract = async (sql: Queryable, row: NewContract): Promise<boolean> => {
  const inserted = await sql`
    insert into drex_contracts (id, network, address, template, label, params, abi, deployer,
      transaction_id, permit_transaction_id, account, created_by, created_at)
    values (${row.id}, ${row.network}, ${row.address ?? null}, ${row.template ?? null},
      ${row.label}, ${JSON.stringify(row.params)}::text::jsonb, ${JSON.stringify(row.abi)}::text::jsonb,
      ${row.deployer ?? null}, ${row.transactionId ?? null}, ${row.permitTransactionId ?? null},
      ${row.account}, ${row.createdBy}, ${row.createdAt.toISOString()})
    on conflict do nothing`
  return inserted.count === 1
}

/** Replaces the account's former registration. @returns the id of the former; undefined if there is none */
export const replaceRegistration = async (
  sql: Queryable,
  { network, address, account, abi, label }: NewContract,
): Promise<string | undefined> => {
  const [replaced] = await sql<{ id: string }[]>`
    update drex_contracts set abi = ${JSON.stringify(abi)}::text::jsonb, label = ${label}
    where network = ${network} and address = ${address ?? null} and account = ${account}
      and template is null
    returning id`
  return replaced?.id
}

const visible = (sql: Queryable, account: string) => sql`
  c.account in (${account}, ${gatewayAccount})`

const selection = (sql: Queryable) => sql`
  select c.*, t.status, t.hash, t.error, p.status as permit_status
  from drex_contracts c
  left join drex_transactions t on t.id = c.transaction_id
  left join drex_transactions p on p.id = c.permit_transaction_id`

export const contractById = async (sql: Queryable, id: string): Promise<Contract | undefined> => {
  const [row] = await sql`${selection(sql)} where c.id = ${id}`
  return row && valueOfRow<Contract>(row)
}

/** Several if the same address is known on several networks. */
export const contractsByAddress = async (
  sql: Client,
  address: Hex,
  account: string,
): Promise<readonly Contract[]> => {
  const rows = await sql`
    ${selection(sql)} where c.address = ${address} and ${visible(sql, account)} order by c.id`
  return rows.map(valueOfRow<Contract>)
}

/** The contract that the account knows at each address: its own before one that everybody sees. */
export const contractsOfNetwork = async (
  sql: Client,
  network: string,
  account: string,
  addresses: readonly Hex[],
): Promise<readonly Contract[]> => {
  const rows = await sql`
    select distinct on (own.address) own.* from (
      ${selection(sql)} where c.network = ${network} and c.address = any(${[...addresses]}::text[])
        and ${visible(sql, account)}
    ) own order by own.address, own.account = ${gatewayAccount}, own.id`
  return rows.map(valueOfRow<Contract>)
}

/** Whether anybody deployed it from a template. */
export const isOfTemplate = async (
  sql: Client,
  network: string,
  address: Hex,
): Promise<boolean> => {
  const rows = await sql`
    select 1 from drex_contracts
    where network = ${network} and address = ${address} and template is not null limit 1`
  return rows.length > 0
}

export const listContracts = async (
  sql: Client,
  account: string,
  beforeId: string | undefined,
  limit: number,
): Promise<readonly Contract[]> => {
  const rows = await sql`
    ${selection(sql)} where ${visible(sql, account)}
      ${beforeId === undefined ? sql`` : sql`and c.id < ${beforeId}`}
    order by c.id desc limit ${rowCount(sql, limit)}`
  return rows.map(valueOfRow<Contract>)
}

export type TrackedRow = {
  readonly id: string
  readonly network: string
  readonly kind: string
  readonly subject: string
  readonly sender: Hex
  readonly recipient: Hex | undefined
  readonly status: TransactionStatus
  readonly hash: Hex | undefined
  readonly nonce: number | undefined
  readonly blockNumber: number | undefined
  readonly error: TransactionError | undefined
  readonly createdAt: Date
}

const readTracked = (row: PostgresRow): TrackedRow => {
  const value = valueOfRow<
    Omit<TrackedRow, 'nonce' | 'blockNumber'> & {
      readonly nonce?: bigint
      readonly blockNumber?: bigint
    }
  >(row)
  return {
    ...value,
    nonce: optionalNumber(value.nonce),
    blockNumber: optionalNumber(value.blockNumber),
  }
}

const trackedColumns = (sql: Queryable) => sql`
  t.id, t.network, t.kind, t.subject, t.sender, t.recipient, t.status,
  coalesce(t.mined_hash, t.hash) as hash, t.nonce, t.block_number, t.error, t.created_at`

export const trackedById = async (sql: Queryable, id: string): Promise<TrackedRow | undefined> => {
  const [row] = await sql`
    select ${trackedColumns(sql)} from drex_transactions t where t.id = ${id}`
  return row && readTracked(row)
}

/**
 * Sent by a wallet, or by its account for a transfer to it; newest first. What another account sends to it, or from it
 * where it is watched only, is the other's until it is on the chain, of which the statement tells.
 */
export const trackedOfWallet = async (
  sql: Client,
  { address, account, type }: Pick<Wallet, 'address' | 'account' | 'type'>,
  beforeId: string | undefined,
  limit: number,
): Promise<readonly TrackedRow[]> => {
  const before = (id: PendingQuery<PostgresRow[]>) =>
    beforeId === undefined ? sql`` : sql`and ${id} < ${beforeId}`
  const rows = await sql`
    select * from (
      (select ${trackedColumns(sql)} from drex_transactions t
        where t.sender = ${address} and ${type !== 'external'} ${before(sql`t.id`)} order by t.id desc limit ${rowCount(sql, limit)})
      union
      (select ${trackedColumns(sql)} from (
          select transaction_id from drex_transfers
          where to_wallet = ${address} and account = ${account}
            ${before(sql`transaction_id`)}
          order by transaction_id desc limit ${rowCount(sql, limit)}
        ) f cross join lateral (select * from drex_transactions where id = f.transaction_id limit 1) t)
    ) t order by id desc limit ${rowCount(sql, limit)}`
  return rows.map(readTracked)
}

/** The accounts whose wallets signed the transactions, by their ids; watching an address does not count. */
export const accountsOf = async (
  sql: Queryable,
  ids: readonly string[],
): Promise<ReadonlyMap<string, string>> => {
  if (ids.length === 0) return new Map()
  const rows = await sql<{ id: string; account: string }[]>`
    select t.id, w.account from drex_transactions t join drex_wallets w on w.address = t.sender
    where t.id = any(${[...ids]}::text[])`
  return new Map(rows.map(({ id, account }) => [id, account]))
}
