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

/** @returns false if the address is taken */
export const insertWallet = async (sql: Queryable, wallet: Wallet): Promise<boolean> => {
  const inserted = await sql`
    insert into drex_wallets (id, address, type, label, metadata, sealed_key, key_name, account,
      environment, status, policy, alerts, created_by, created_at)
    values (${wallet.id}, ${wallet.address}, ${wallet.type}, ${wallet.label},
      ${JSON.stringify(wallet.metadata)}::text::jsonb,
      ${wallet.sealedKey === undefined ? null : Buffer.from(wallet.sealedKey)},
      ${wallet.keyName ?? null}, ${wallet.account}, ${wallet.environment ?? null}, ${wallet.status}, ${JSON.stringify(wallet.policy)}::text::jsonb,
      ${JSON.stringify(wallet.alerts)}::text::jsonb,
      ${wallet.createdBy}, ${wallet.createdAt.toISOString()})
    on conflict do nothing`
  return inserted.count === 1
}

export const walletById = async (sql: Client, id: string): Promise<Wallet | undefined> => {
  const [row] = await sql`select * from drex_wallets where id = ${id}`
  return row && valueOfRow<Wallet>(row)
}

export const walletByAddress = async (sql: Client, address: Hex): Promise<Wallet | undefined> => {
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
    select address from drex_wallets
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
    select * from drex_wallets where id > ${afterId}
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
  const [row] = await sql`
    update drex_wallets set status = coalesce(${status ?? null}, status),
      label = coalesce(${label ?? null}, label),
      policy = coalesce(${policy === undefined ? null : JSON.stringify(policy)}::text::jsonb, policy),
      alerts = coalesce(${alerts === undefined ? null : JSON.stringify(alerts)}::text::jsonb, alerts)
    where id = ${id} and account = ${account} and status <> 'archived' returning *`
  return row && valueOfRow<Wallet>(row)
}

/** The policies of wallets as they are now; nobody changes them, or judges by them, until the transaction ends. */
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
