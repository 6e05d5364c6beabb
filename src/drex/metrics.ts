/** What a scrape asks of digital currency. */
import type { Client } from '#src/platform/database/index.ts'
import type { Metrics } from '#src/platform/observe/index.ts'
import type { NetworkId } from './config.ts'
import { openStatuses } from './domain.ts'
import type { EngineContext } from './engine/context.ts'
import { countHeld } from './engine/held-store.ts'
import { countOpen } from './engine/store.ts'
import { countDiffering, positions } from './ledger/store.ts'

type Watched = { readonly metrics: Metrics; readonly sql: Client }

/** How old the newest block of each network is. */
export const watchHeads = (
  { metrics }: Pick<Watched, 'metrics'>,
  contexts: ReadonlyMap<NetworkId, EngineContext>,
) => {
  metrics.gauge(
    'drex_head_age_seconds',
    'Time since the network’s newest block was seen first.',
    ['network'],
    async (gauge) => {
      for (const [network, { heads }] of contexts) {
        const ageMs = heads.ageMs()
        if (ageMs !== undefined) gauge.set({ network }, ageMs / 1_000)
      }
    },
  )
}

/** Up to where each network was read, and wallets whose balance is not what their movements say. */
export const watchLedger = ({ metrics, sql }: Watched): void => {
  metrics.gauge(
    'drex_ledger_block',
    'Block up to which the movements of the currencies were read.',
    ['network'],
    async (gauge) => {
      const rows = await positions(sql).catch(() => [])
      for (const { network, number } of rows) gauge.set({ network }, number)
    },
  )
  metrics.gauge(
    'drex_balances_differing',
    'Wallets whose balance on the chain is not what their movements say.',
    ['network'],
    async (gauge) => {
      const rows = await countDiffering(sql).catch(() => [])
      gauge.reset()
      for (const { network, count } of rows) gauge.set({ network }, count)
    },
  )
}

/** Counts looks at blocks whose receipts no node proves: one that is repeated for long is more than a node that lags. */
export const countUnproven = ({ metrics }: Pick<Watched, 'metrics'>) =>
  metrics.counter('drex_blocks_unproven_total', 'Looks at a block whose receipts no node proved.', [
    'network',
  ])

/** Counts replacements and cancellations that the limits of fees forbid: where that lasts, a nonce is stuck until fees fall. */
export const countFeeLimits = ({ metrics }: Pick<Watched, 'metrics'>) =>
  metrics.counter('drex_fee_limits_total', 'Replacements that the limits of fees did not allow.', [
    'network',
  ])

/** Counts open transactions by network and state: the first sign of a chain that stands still. */
export const watchOpen = ({ metrics, sql }: Watched, networks: readonly NetworkId[]): void => {
  metrics.gauge(
    'drex_transactions_open',
    'Tracked transactions that have not ended.',
    ['network', 'status'],
    async (gauge) => {
      // Without the database, a scrape leaves these out.
      const rows = await countOpen(sql).catch(() => undefined)
      gauge.reset()
      if (rows === undefined) return
      for (const network of networks) {
        for (const status of openStatuses) gauge.set({ network, status }, 0)
      }
      for (const { network, status, count } of rows) gauge.set({ network, status }, count)
    },
  )
}

/** Counts what waits for a decision, on every network: none is worth knowing, too. */
export const watchHeld = ({ metrics, sql }: Watched, networks: readonly NetworkId[]): void => {
  metrics.gauge(
    'drex_transactions_held',
    'Transactions that may be on the chain already and wait for a decision.',
    ['network'],
    async (gauge) => {
      const rows = await countHeld(sql).catch(() => undefined)
      if (rows === undefined) return gauge.reset()
      for (const network of networks) gauge.set({ network }, 0)
      for (const { network, count } of rows) gauge.set({ network }, count)
    },
  )
}
