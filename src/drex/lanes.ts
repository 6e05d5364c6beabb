import { type Client, constants, type Queryable } from '#src/platform/database/index.ts'
import { type NetworkId, networkIds } from './config.ts'
import { openStatuses } from './domain.ts'
import { before } from './engine/store.ts'
import type { Hex } from './evm/hex.ts'
import type { Visible } from './wallets/rights.ts'

/** The nonces of one sender on one network: they go one after the other, so the oldest holds up the others. */
export type Lane = {
  readonly network: string
  readonly sender: Hex
  readonly walletId: string
  readonly label: string
  readonly nextNonce: number
  /** Up to {@link openMax}. */
  readonly open: number
  readonly oldestAt: Date | null
  readonly oldestStatus: string | null
  readonly oldestKind: string | null
  /** The transfer, operation or contract that it belongs to. */
  readonly oldestSubject: string | null
}

export const lanesMax = 500
export const openMax = 1_000
/** Sent again at once for one wallet on one network. Not in their order, by which all that it ever sent would be read. */
export const resentMax = 500

/** Lanes of the account's wallets, those with the oldest open transaction first. */
export const lanesOf = (sql: Client, by: Visible): Promise<readonly Lane[]> => sql<Lane[]>`
  select l.network, l.sender, w.id as "walletId", w.label, l.next_nonce::float8 as "nextNonce",
    open.count as open, open.oldest as "oldestAt", open.status as "oldestStatus",
    open.kind as "oldestKind", open.subject as "oldestSubject"
  from drex_wallets w
  join drex_lanes l on l.sender = w.address and l.network = any(${[...networkIds]}::text[])
  cross join lateral (
    select count(*)::int as count, min(created_at) as oldest,
      (array_agg(status order by id))[1] as status, (array_agg(kind order by id))[1] as kind,
      (array_agg(subject order by id))[1] as subject
    from (
      select id, status, kind, subject, created_at from drex_transactions t
      where t.network = l.network and t.sender = l.sender
        and t.status in (${constants(sql, openStatuses)})
      order by t.id limit ${openMax}
    ) t
  ) open
  where w.account = ${by.account} and l.network = any(${[...by.networks]}::text[])
    ${by.wallets === undefined ? sql`` : sql`and w.address = any(${[...by.wallets]}::text[])`}
  order by open.oldest nulls last, l.network, l.sender limit ${lanesMax}`

/**
 * Has the sweeper look at once at what the wallet has in flight, except what another process looks at just now.
 *
 * @returns how many
 */
export const sweepNow = async (
  sql: Queryable,
  { walletId, networks }: { readonly walletId: string; readonly networks: readonly NetworkId[] },
): Promise<number> => {
  const due = await sql`
    with waiting as materialized (
      select t.id from unnest(${[...networks]}::text[]) as n(network)
      cross join lateral (
        select id from drex_transactions t
        where t.network = n.network and t.sender = (select address from drex_wallets where id = ${walletId})
          and t.status in (${before(sql, 'accepted')})
        limit ${resentMax} for update skip locked
      ) t
    )
    update drex_transactions t set due_at = now() from waiting where t.id = waiting.id returning t.id`
  return due.length
}
