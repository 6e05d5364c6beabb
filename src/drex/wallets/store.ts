import {
  type Client,
  type Queryable,
  rowCount,
  type Transaction,
  valueOfRow,
} from '#src/platform/database/index.ts'
import type { KeyEnvironment } from '#src/platform/security/index.ts'
import { keyServices } from '../custody/key-service.ts'
import { decimalsMax } from '../domain.ts'
import type { Hex } from '../evm/hex.ts'
import { idSince } from '../ids.ts'
import type { WalletAlerts } from './alerts.ts'
import type { WalletPolicy } from './policy.ts'

export const walletTypes = ['managed', 'external', 'web3signer', ...keyServices] as const
export type WalletType = (typeof walletTypes)[number]

export const walletStatuses = ['active', 'disabled', 'archived'] as const
/** `disabled` may become active again, `archived` not. */
export type WalletStatus = (typeof walletStatuses)[number]

export type Wallet = {
  readonly id: string
  readonly address: Hex
  readonly type: WalletType
  readonly label: string
  readonly metadata: Readonly<Record<string, unknown>>
  /** Sealed private key of a managed wallet. */
  readonly sealedKey: Uint8Array | undefined
  /** What a key management service calls the key of an `aws_kms` or `gcp_kms` wallet. */
  readonly keyName: string | undefined
  /** Whose it is. */
  readonly account: string
  /** It signs for networks of this environment only; undefined for those made before there was a difference. */
  readonly environment: KeyEnvironment | undefined
  readonly status: WalletStatus
  readonly policy: WalletPolicy
  readonly alerts: WalletAlerts
  readonly createdBy: string
  readonly createdAt: Date
}

/** What both tables of wallets have. */
const common = (sql: Queryable) => sql`
  id, address, label, metadata, account, environment, status, policy, alerts, created_by, created_at`
const ofWallets = (sql: Queryable) => sql`type, key_name, sealed_key, ${common(sql)}`
const ofWatches = (sql: Queryable) => sql`
  'external'::text as type, null::text as key_name, null::bytea as sealed_key, ${common(sql)}`

/** Wallets of every type, as one table. */
export const allWallets = (sql: Queryable) => sql`(
  select ${ofWallets(sql)} from drex_wallets
  union all
  select ${ofWatches(sql)} from drex_watches
) w`

/** @returns false if the account has a wallet of this address, or another signs with its key */
export const insertWallet = async (sql: Queryable, wallet: Wallet): Promise<boolean> => {
  const { address, account, type } = wallet
  // An account that asks for both at once gets one of them.
  await sql`select pg_advisory_xact_lock(hashtextextended(${`drex_wallets/${address}`}, 0))`
  const isNew = sql`not exists (
    select from ${allWallets(sql)} where address = ${address} and account = ${account})`
  const values = sql`
    ${wallet.id}, ${address}, ${wallet.label}, ${JSON.stringify(wallet.metadata)}::text::jsonb, ${account},
    ${wallet.environment ?? null}, ${wallet.status}, ${JSON.stringify(wallet.policy)}::text::jsonb,
    ${JSON.stringify(wallet.alerts)}::text::jsonb, ${wallet.createdBy},
    ${wallet.createdAt.toISOString()}::timestamptz`
  if (type === 'external') {
    const { count } = await sql`
      insert into drex_watches (${common(sql)}) select ${values} where ${isNew} on conflict do nothing`
    return count === 1
  }
  await freeAddress(sql, wallet)
  const sealedKey = wallet.sealedKey === undefined ? null : Buffer.from(wallet.sealedKey)
  const { count } = await sql`
    insert into drex_wallets (${ofWallets(sql)})
    select ${type}, ${wallet.keyName ?? null}, ${sealedKey}::bytea, ${values} where ${isNew}
    on conflict do nothing`
  return count === 1
}

/** Earlier versions let another account watch the address; that must not block its owner. */
const freeAddress = (sql: Queryable, { address, account }: Wallet) => sql`
  with moved as (
    delete from drex_wallets where address = ${address} and type = 'external' and account <> ${account}
    returning *
  )
  insert into drex_watches (${common(sql)}) select ${common(sql)} from moved on conflict do nothing`

export const walletById = async (sql: Client, id: string): Promise<Wallet | undefined> => {
  const [row] = await sql`select * from ${allWallets(sql)} where id = ${id}`
  return row && valueOfRow<Wallet>(row)
}

/** What the account has of an address: a wallet that signs, or one that is watched only. */
export const walletOf = async (
  sql: Client,
  account: string,
  address: Hex,
): Promise<Wallet | undefined> => {
  const [row] = await sql`
    select * from ${allWallets(sql)} where address = ${address} and account = ${account}`
  return row && valueOfRow<Wallet>(row)
}

/** The wallet that signs for an address, whose ever it is. */
export const signingWallet = async (sql: Client, address: Hex): Promise<Wallet | undefined> => {
  const [row] = await sql`select * from drex_wallets where address = ${address}`
  return row && valueOfRow<Wallet>(row)
}

/** Which of these addresses are wallets of the account. */
export const ownAmong = async (
  sql: Client,
  account: string,
  addresses: readonly Hex[],
): Promise<readonly Hex[]> => {
  const rows = await sql<{ address: Hex }[]>`
    select address from ${allWallets(sql)}
    where address = any(${[...addresses]}::text[]) and account = ${account}`
  return rows.map(({ address }) => address)
}

/** The gateway's own wallet for an account's deployments, if there is one that is not archived. */
export const walletByCreator = async (
  sql: Queryable,
  createdBy: string,
  account: string,
  environment: KeyEnvironment,
): Promise<Wallet | undefined> => {
  const [row] = await sql`
    select * from drex_wallets where created_by = ${createdBy} and account = ${account}
      and coalesce(environment, ${environment}) = ${environment} and status <> 'archived'
    order by id limit 1`
  return row && valueOfRow<Wallet>(row)
}

/**
 * @param account undefined for those of all accounts
 * @param addresses undefined for all
 */
export const listWallets = async (
  sql: Client,
  account: string | undefined,
  afterId: string,
  limit: number,
  addresses?: string[],
): Promise<readonly Wallet[]> => {
  const rows = await sql`
    select * from ${allWallets(sql)} where id > ${afterId}
      ${account === undefined ? sql`` : sql`and account = ${account}`}
      ${addresses === undefined ? sql`` : sql`and address = any(${addresses}::text[])`}
    order by id limit ${rowCount(sql, limit)}`
  return rows.map(valueOfRow<Wallet>)
}

/** The oldest wallets of one type, of all accounts. */
export const walletsOfType = async (
  sql: Client,
  type: WalletType,
  limit: number,
): Promise<readonly Wallet[]> => {
  const rows = await sql`
    select * from drex_wallets where type = ${type} order by id limit ${rowCount(sql, limit)}`
  return rows.map(valueOfRow<Wallet>)
}

/** @returns false if the sealed key has changed meanwhile */
export const saveSealedKey = async (
  sql: Queryable,
  id: string,
  previous: Uint8Array,
  sealedKey: Uint8Array,
): Promise<boolean> => {
  const saved = await sql`
    update drex_wallets set sealed_key = ${Buffer.from(sealedKey)}
    where id = ${id} and sealed_key = ${Buffer.from(previous)}`
  return saved.count === 1
}

/** @returns the wallet as it is now; undefined if it is archived or not the account's */
export const changeWallet = async (
  sql: Transaction,
  id: string,
  account: string,
  change: {
    readonly status: WalletStatus | undefined
    readonly label: string | undefined
    readonly policy: WalletPolicy | undefined
    readonly alerts: WalletAlerts | undefined
  },
): Promise<Wallet | undefined> => {
  const { status, label, policy, alerts } = change
  // Other limits are judged anew.
  if (alerts !== undefined) await sql`delete from drex_low_balances where wallet_id = ${id}`
  const changed = sql`set status = coalesce(${status ?? null}, status),
      label = coalesce(${label ?? null}, label),
      policy = coalesce(${policy === undefined ? null : JSON.stringify(policy)}::text::jsonb, policy),
      alerts = coalesce(${alerts === undefined ? null : JSON.stringify(alerts)}::text::jsonb, alerts)
    where id = ${id} and account = ${account} and status <> 'archived'`
  const [row] = await sql`
    with wallet as (update drex_wallets ${changed} returning ${ofWallets(sql)}),
      watch as (update drex_watches ${changed} returning ${ofWatches(sql)})
    select * from wallet union all select * from watch`
  return row && valueOfRow<Wallet>(row)
}

/** The policies of wallets that sign, as they are now; nobody changes them, or judges by them, until the transaction ends. */
export const lockPolicies = (
  sql: Transaction,
  addresses: readonly Hex[],
): Promise<readonly { readonly address: Hex; readonly policy: WalletPolicy }[]> => sql<
  { address: Hex; policy: WalletPolicy }[]
>`
    select address, policy from drex_wallets where address = any(${[...addresses]}::text[])
    order by address for update`

const hourMs = 3_600_000

/**
 * What a wallet has sent or is sending, counted in units of `decimalsMax` decimals: by its own transfers, and as the
 * reserve of others' swaps. Each attempt has steps of its own, by whose ids those of late are found.
 */
export const spentSince = async (
  sql: Transaction,
  address: Hex,
  hours: number,
): Promise<bigint> => {
  const from = idSince('dtx', new Date(Date.now() - hours * hourMs))
  const [row] = await sql<{ spent: string }[]>`
    select coalesce(sum(f.amount * (10::numeric ^ (${decimalsMax} - f.decimals))), 0)::numeric(150, 0)::text
      as spent
    from (
      select distinct subject from drex_transactions
      where sender = ${address} and id >= ${from} and left(subject, 4) = 'trf_'
    ) signed
    cross join lateral (select * from drex_transfers where id = signed.subject limit 1) f
    cross join lateral (select status from drex_transactions where id = f.transaction_id limit 1) t
    where greatest(f.created_at, f.retried_at) > now() - ${hours} * interval '1 hour'
      and t.status not in ('failed', 'reverted', 'cancelled')`
  return BigInt(row?.spent ?? '0')
}
