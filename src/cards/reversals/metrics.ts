import type { Client } from '#src/platform/database/index.ts'
import type { Counter, Metrics } from '#src/platform/observe/index.ts'
import { gaugeByNetwork } from '../by-network.ts'
import { pendingByNetwork } from './store.ts'
import { isAdviceOf, type NewReversal } from './types.ts'

/** The outcome of an attempt; the last four wrote no byte and do not count as an attempt. */
export type AttemptOutcome =
  | 'confirmed'
  /** The network does not know the original, which may still be on its way. */
  | 'not_known'
  | 'refused'
  /** The network does not take the advice. */
  | 'declined'
  | 'timed_out'
  | 'connection_lost'
  | 'unreadable'
  | 'not_sent'
  | 'vault_unavailable'
  | 'token_unknown'
  | 'failed'

type AttemptCounts = {
  readonly attempts: Counter<'network' | 'outcome'>
  readonly ended: Counter<'network' | 'outcome'>
}

/** Metrics of reversals, and metrics of advices. */
export type ReversalMetrics = { readonly of: (reverses: NewReversal['reverses']) => AttemptCounts }

/** Declares the metrics of reversals; once for the process. */
export const createReversalMetrics = (
  metrics: Metrics,
  sql: Client,
  networks: readonly string[],
): ReversalMetrics => {
  type Pending = Awaited<ReturnType<typeof pendingByNetwork>>
  let asked: Promise<Pending> | undefined
  // Both gauges of a scrape share one statement.
  const pending = (): Promise<Pending> => {
    asked ??= pendingByNetwork(sql).finally(() => {
      asked = undefined
    })
    return asked
  }
  const gauge = (
    name: string,
    help: string,
    ofAdvices: boolean,
    value: (row: Pending[number]) => number,
  ): void =>
    gaugeByNetwork(metrics, name, help, networks, async () =>
      (await pending())
        .filter(({ isAdvice }) => isAdvice === ofAdvices)
        .map((row) => ({ network: row.network, value: value(row) })),
    )
  const count = ({ count: found }: Pending[number]): number => found
  const age = ({ ageSeconds }: Pending[number]): number => ageSeconds
  gauge('cardgw_reversals_pending', 'Reversals that wait for confirmation.', false, count)
  gauge(
    'cardgw_reversals_oldest_age_seconds',
    'Age of the oldest reversal that waits for confirmation.',
    false,
    age,
  )
  gauge('cardgw_advices_pending', 'Advices that wait for confirmation.', true, count)
  gauge(
    'cardgw_advices_oldest_age_seconds',
    'Age of the oldest advice that waits for confirmation.',
    true,
    age,
  )
  const labels = ['network', 'outcome'] as const
  const ofReversals = {
    attempts: metrics.counter(
      'cardgw_reversal_attempts_total',
      'Attempts to send a reversal, by what became of them.',
      labels,
    ),
    ended: metrics.counter('cardgw_reversals_total', 'Reversals that ended, by outcome.', labels),
  }
  const ofAdvices = {
    attempts: metrics.counter(
      'cardgw_advice_attempts_total',
      'Attempts to send an advice, by what became of them.',
      labels,
    ),
    ended: metrics.counter('cardgw_advices_total', 'Advices that ended, by outcome.', labels),
  }
  return { of: (reverses) => (isAdviceOf(reverses) ? ofAdvices : ofReversals) }
}
