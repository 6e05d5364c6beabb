import type { AppEvent } from '#src/events/index.ts'
import type { Client } from '#src/platform/database/index.ts'
import { createLoop, type Loop } from '#src/platform/jobs/index.ts'
import type { Counter, Logger } from '#src/platform/observe/index.ts'
import { type DeliveryStep, failingGapMaxMs, failingMaxMs } from './domain.ts'
import { emitEvents } from './events.ts'
import {
  accountsOf,
  type EndpointVerdict,
  type FinishedAttempt,
  judgeEndpoints,
  writeOutcomes,
} from './queue.ts'

export type OutcomeWriter = {
  readonly add: (finished: FinishedAttempt) => void
  /** Resolves when all added outcomes are written. */
  readonly settled: () => Promise<void>
  readonly watched: Loop
}

export type DeliveryCounter = Counter<'event_type' | 'status'>

/**
 * Writes outcomes in batches: outcomes that come during one batch make the next. Counts attempts by their decision: for
 * another URL than the present one, 410 and a last failure end nothing.
 */
export const createOutcomeWriter = (
  sql: Client,
  deliveries: DeliveryCounter,
  logger: Logger,
): OutcomeWriter => {
  const watched = createLoop('outcomes of webhook attempts')
  let waiting: FinishedAttempt[] = []
  let writing: Promise<void> | undefined

  const writeAll = async (): Promise<void> => {
    while (waiting.length > 0) {
      const batch = waiting
      waiting = []
      const work = watched.begin()
      try {
        const decided = await writeBatch(sql, batch)
        countAttempts(deliveries, batch, decided)
      } catch (error) {
        // The lease ends, and we attempt the deliveries again.
        logger.error({ err: error, count: batch.length }, 'webhook outcomes could not be written')
      } finally {
        work.end()
      }
    }
    writing = undefined
  }

  return {
    watched,
    add: (finished) => {
      waiting.push(finished)
      writing ??= writeAll()
    },
    settled: async () => {
      await writing
    },
  }
}

const operational = (type: string): boolean => type.startsWith('webhook.')

const countAttempts = (
  deliveries: DeliveryCounter,
  batch: readonly FinishedAttempt[],
  decided: readonly FinishedAttempt[],
): void => {
  const steps = new Map(decided.map(({ delivery, step }) => [delivery, step]))
  for (const { delivery, step } of batch) {
    deliveries.inc({ event_type: delivery.type, status: statusOf(step, steps.get(delivery)) })
  }
}

/** @param decided - undefined: the attempt was overtaken, and its failure ends nothing */
const statusOf = (step: DeliveryStep, decided: DeliveryStep | undefined): string => {
  if (step.state === 'delivered') return 'delivered'
  if (decided?.state !== 'exhausted') return 'failed'
  return decided.disable ?? 'exhausted'
}

/** @returns the outcomes that decided something, with their consequences */
const writeBatch = (
  sql: Client,
  batch: readonly FinishedAttempt[],
): Promise<readonly FinishedAttempt[]> =>
  sql.begin(async (tx) => {
    const decided = await writeOutcomes(tx, batch)
    const verdicts = verdictsOf(decided)
    const disabled = await judgeEndpoints(tx, verdicts, failingMaxMs / 1000, failingGapMaxMs / 1000)
    const events: AppEvent[] = disabled.map(({ id, reason }) => ({
      type: 'webhook.endpoint.disabled',
      subject: id,
      data: { endpoint_id: id, reason },
    }))
    for (const { delivery, step } of decided) {
      const { endpointId, id, eventId, type } = delivery
      // If we cannot deliver an operational event, we do not emit another about that.
      if (step.state !== 'exhausted' || operational(type)) continue
      events.push({
        type: 'webhook.delivery.exhausted',
        subject: endpointId,
        data: { delivery_id: id, endpoint_id: endpointId, event_id: eventId, event_type: type },
      })
    }
    if (events.length === 0) return decided
    const accounts = await accountsOf(
      tx,
      events.map(({ subject }) => subject),
    )
    // An endpoint that was removed meanwhile has no account: its end concerns nobody.
    const news = events.flatMap((event) => {
      const account = accounts.get(event.subject)
      return account === undefined ? [] : [{ ...event, account }]
    })
    await emitEvents(tx, news)
    return decided
  })

/** One outcome per endpoint and URL of the batch: a success among failures counts as success. */
const verdictsOf = (batch: readonly FinishedAttempt[]): readonly EndpointVerdict[] => {
  const verdicts = new Map<string, EndpointVerdict>()
  for (const { delivery, url, step, result } of batch) {
    const id = delivery.endpointId
    const key = `${id} ${url}`
    const before = verdicts.get(key)
    verdicts.set(key, {
      id,
      url,
      succeeded: step.state === 'delivered' || before?.succeeded === true,
      gone: result.outcome.kind === 'gone' || before?.gone === true,
    })
  }
  return [...verdicts.values()].toSorted((a, b) => (a.id < b.id ? -1 : 1))
}
