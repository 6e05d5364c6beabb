/** SQL that ends transactions; each function returns the rows that this very call ended. */
import { type Client, type Transaction, valueOfRow } from '#src/platform/database/index.ts'
import { gatewayAccount } from '../contracts/store.ts'
import { transition } from '../domain.ts'
import type { Hex } from '../evm/hex.ts'
import type { Checkpoint, Identity } from '../rpc/node.ts'
import { before, type MinedIn, type MinedRow, minedColumns, minedValues } from './store.ts'
import { type Ended, errorColumn, type TransactionError } from './transaction.ts'

export type Settlement = MinedIn & {
  readonly event: 'settled_success' | 'settled_mismatch' | 'settled_revert' | 'settled_cancel'
  readonly error?: TransactionError | undefined
}

/**
 * Another process may have found it in another block since it was judged: that is judged for itself.
 * @returns those mined before and settled by this very call
 */
export const settle = async (
  sql: Transaction,
  rows: readonly Settlement[],
): Promise<readonly Ended[]> => {
  const settled = await sql`
    update drex_transactions t set status = v.status, settled_at = now(), error = v.error::jsonb
    from unnest(
      ${rows.map((row) => row.id)}::text[],
      ${rows.map((row) => transition('mined', row.event)!)}::text[],
      ${rows.map((row) => errorColumn(row.error))}::text[],
      ${rows.map((row) => row.blockHash ?? null)}::text[],
      ${rows.map((row) => row.minedHash ?? null)}::text[]
    ) as v(id, status, error, block_hash, mined_hash)
    where t.id = v.id and t.block_hash = v.block_hash and t.mined_hash = v.mined_hash
      and t.status in (${before(sql, 'settled_success')})
    returning t.id, t.kind, t.subject, t.status, t.mined_hash as hash`
  return settled.map(valueOfRow<Ended>)
}

/**
 * Writes receipts of success whose blocks are deep enough already: mined and confirmed at once.
 * @returns those ended by this very call
 */
export const settleMined = async (
  sql: Transaction,
  rows: readonly MinedRow[],
): Promise<readonly Ended[]> => {
  const settled = await sql`
    update drex_transactions t
    set status = ${transition('mined', 'settled_success')!}, settled_at = now(), error = null, ${minedColumns(sql)}
    from ${minedValues(sql, rows)}
    where t.id = v.id and t.status in (${before(sql, 'receipt')})
    returning t.id, t.kind, t.subject, t.status, t.mined_hash as hash`
  return settled.map(valueOfRow<Ended>)
}

/** Ends transactions that have no nonce yet, each with its reason. */
export const refuse = async (
  sql: Transaction,
  rows: readonly { readonly id: string; readonly error: TransactionError }[],
): Promise<readonly Ended[]> => {
  const refused = await sql`
    update drex_transactions t set status = 'failed', settled_at = now(), error = v.error::jsonb
    from unnest(
      ${rows.map((row) => row.id)}::text[], ${rows.map((row) => errorColumn(row.error))}::text[]
    ) as v(id, error)
    where t.id = v.id and t.status in (${before(sql, 'refused')})
    returning t.id, t.kind, t.subject, t.status, t.hash`
  return refused.map(valueOfRow<Ended>)
}

/** Ends transactions that have no nonce yet and nothing left to do. */
export const withdraw = async (
  sql: Transaction,
  ids: readonly string[],
): Promise<readonly Ended[]> => {
  const rows = await sql`
    update drex_transactions set status = 'cancelled', settled_at = now()
    where id = any(${[...ids]}::text[]) and status in (${before(sql, 'cancel')})
    returning id, kind, subject, status, hash`
  return rows.map(valueOfRow<Ended>)
}

/** Steps that can no longer start because an earlier one ended badly. */
export const failFollowers = async (
  sql: Transaction,
  ids: readonly string[],
  error: TransactionError,
): Promise<readonly Ended[]> => {
  const rows = await sql`
    with recursive followers as (
      select id from drex_transactions where after_id = any(${[...ids]}::text[])
      union all
      select t.id from drex_transactions t join followers f on t.after_id = f.id
    )
    update drex_transactions t set status = 'failed', settled_at = now(), error = ${errorColumn(error)}::text::jsonb
    from followers f where t.id = f.id and t.status in (${before(sql, 'refused')})
    returning t.id, t.kind, t.subject, t.status, t.hash`
  return rows.map(valueOfRow<Ended>)
}

/** How many expired transactions end at once. */
export const expiredMax = 1_000

/**
 * Leaves out those that may be on the chain already, since nobody can say that they were not sent.
 * @param except senders that have to wait
 */
export const expired = (
  sql: Client,
  network: string,
  { afterId, except }: { readonly afterId: string; readonly except: readonly Hex[] },
): Promise<readonly { readonly id: string; readonly sender: Hex }[]> => sql<
  { id: string; sender: Hex }[]
>`
    select id, sender from drex_transactions
    where network = ${network} and status in (${before(sql, 'refused')}) and expires_at <= now()
      and held is null and id > ${afterId}
      ${except.length === 0 ? sql`` : sql`and sender <> all(${[...except]}::text[])`}
    order by id limit ${expiredMax}`

/** What distinguishes a network from any other. */
export const identityOf = async (sql: Client, network: string): Promise<Identity | undefined> => {
  const [row] = await sql<
    { genesis_hash: Hex; checkpoint_number: bigint | null; checkpoint_hash: Hex | null }[]
  >`select genesis_hash, checkpoint_number, checkpoint_hash from drex_network_state
    where network = ${network}`
  if (row === undefined) return undefined
  const { genesis_hash: genesis, checkpoint_number: number, checkpoint_hash: hash } = row
  const checkpoint = number === null || hash === null ? undefined : { number: Number(number), hash }
  return { genesis, checkpoint }
}

/** Remembers a network by its genesis block. @returns the one remembered */
export const rememberGenesis = async (sql: Client, network: string, hash: Hex): Promise<Hex> => {
  const [row] = await sql<{ genesis_hash: Hex }[]>`
    insert into drex_network_state (network, genesis_hash) values (${network}, ${hash})
    on conflict (network) do update set network = excluded.network
    returning genesis_hash`
  return row!.genesis_hash
}

export const saveCheckpoint = async (
  sql: Client,
  network: string,
  { number, hash }: Checkpoint,
): Promise<void> => {
  await sql`
    update drex_network_state set checkpoint_number = ${number}, checkpoint_hash = ${hash}
    where network = ${network} and coalesce(checkpoint_number, 0) < ${number}`
}

/**
 * An ephemeral network began anew, so the transactions in flight are gone. Their rows keep nonces and hashes under the
 * network's name with its old genesis, out of the new one's way. Transactions not yet signed were never on the old
 * network, and go on.
 */
export const resetNetwork = async (
  sql: Transaction,
  network: string,
  genesis: Hex,
  error: TransactionError,
): Promise<readonly Ended[]> => {
  const rows = await sql`
    update drex_transactions set status = 'failed', settled_at = now(), error = ${errorColumn(error)}::text::jsonb
    where network = ${network} and status in (${before(sql, 'network_reset')})
    returning id, kind, subject, status, hash`
  const [old] = await sql<{ name: string }[]>`
    select network || '@' || left(genesis_hash, 18) as name from drex_network_state
    where network = ${network}`
  const name = old!.name
  await sql`
    update drex_transactions set network = ${name}
    where network = ${network} and status not in (${before(sql, 'signed')})`
  await sql`update drex_attempts set network = ${name} where network = ${network}`
  await sql`update drex_contracts set network = ${name}
    where network = ${network} and account <> ${gatewayAccount}`
  // Only what was signed goes to the old network's name; all else belongs to the new one.
  for (const table of ['drex_transfers', 'drex_operations']) {
    await sql`update ${sql(table)} f set network = ${name} from drex_transactions t
      where f.network = ${network} and t.id = f.transaction_id and t.network = ${name}
        and t.hash is not null`
  }
  await sql`delete from drex_lanes where network = ${network}`
  await sql`update drex_agreements set network = ${name}, until_block = 0 where network = ${network}`
  await sql`update drex_agreement_events set network = ${name} where network = ${network}`
  await sql`delete from drex_agreement_positions where network = ${network}`
  // Money that came in on the old network goes to its name, too.
  await sql`update drex_movements set network = ${name} where network = ${network}`
  await sql`update drex_holdings set network = ${name} where network = ${network}`
  await sql`delete from drex_positions where network = ${network}`
  await resetStreams(sql, network, name)
  await sql`update drex_network_state set genesis_hash = ${genesis}, checkpoint_number = null,
      checkpoint_hash = null where network = ${network}`
  return rows.map(valueOfRow<Ended>)
}

/** Nobody reaches the contracts of the old network any more, nor their streams; the others tell of the new one, all of it. */
const resetStreams = async (sql: Transaction, network: string, oldName: string): Promise<void> => {
  await sql`delete from drex_stream_events e using drex_streams s
    where s.id = e.stream_id and s.network = ${network}`
  await sql`delete from drex_streams s using drex_contracts c
    where s.network = ${network} and c.id = s.contract_id and c.network = ${oldName}`
  await sql`update drex_streams set block_number = 0, block_hash = null, anchors = '[]'
    where network = ${network}`
}
