/** SQL of wallets whose balances are watched, and of those that were told to be low. */
import type { Client, Transaction } from '#src/platform/database/index.ts'
import type { KeyEnvironment } from '#src/platform/security/index.ts'
import type { Hex } from '../evm/hex.ts'
import type { WalletAlerts } from './alerts.ts'
import { allWallets } from './store.ts'

export type WatchedWallet = {
  readonly id: string
  readonly address: Hex
  readonly account: string
  readonly alerts: WalletAlerts
}

export type LowBalance = {
  readonly walletId: string
  readonly network: string
  readonly asset: 'currency' | 'gas'
}

export const watchedWallets = (
  sql: Client,
  environment: KeyEnvironment,
  afterId: string,
  limit: number,
): Promise<readonly WatchedWallet[]> => sql<WatchedWallet[]>`
    select id, address, account, alerts from ${allWallets(sql)}
    where alerts <> '{}' and id > ${afterId} and status <> 'archived'
      and coalesce(environment, ${environment}) = ${environment}
    order by id limit ${limit}`

/**
 * Writes down that a balance is low, by limits that still are the wallet's.
 * @returns false if it was told already, or the limits are others now
 */
export const beLow = async (
  sql: Transaction,
  { walletId, network, asset }: LowBalance,
  alerts: WalletAlerts,
): Promise<boolean> => {
  const same = sql`
    where id = ${walletId} and alerts = ${JSON.stringify(alerts)}::text::jsonb for share`
  const inserted = await sql`
    with wallet as (select id from drex_wallets ${same}), watch as (select id from drex_watches ${same})
    insert into drex_low_balances (wallet_id, network, asset)
    select id, ${network}, ${asset} from (select id from wallet union all select id from watch) w
    on conflict do nothing`
  return inserted.count === 1
}

export const beEnough = async (
  sql: Client,
  { walletId, network, asset }: LowBalance,
): Promise<void> => {
  await sql`
    delete from drex_low_balances
    where wallet_id = ${walletId} and network = ${network} and asset = ${asset}`
}

/** What was told of these wallets on a network. */
export const lowOf = (
  sql: Client,
  network: string,
  walletIds: readonly string[],
): Promise<readonly LowBalance[]> => sql<LowBalance[]>`
    select wallet_id as "walletId", network, asset from drex_low_balances
    where wallet_id = any(${[...walletIds]}::text[]) and network = ${network}`
