import type { Revision } from '#codecs/iso20022'
import type { Emit } from '#src/events/index.ts'
import {
  type Consumer,
  readers,
  type TransactionalBroker,
  topics,
} from '#src/platform/broker/index.ts'
import type { Client } from '#src/platform/database/index.ts'
import type { Feature } from '#src/platform/lifecycle/index.ts'
import type { Logger, Metrics } from '#src/platform/observe/index.ts'
import type { Backoff } from '#src/platform/runtime/index.ts'
import { usedFiles } from '#src/platform/security/index.ts'
import { createTrust } from '../../out/signing/index.ts'
import { buildDraft } from '../../recurring/outgoing.ts'
import type { WorkerSettings } from './config.ts'
import { createWorkerMetrics } from './metrics.ts'
import { createPending } from './pending.ts'
import { createInboundReader } from './reader.ts'
import { endingReturns, type Receivables, type Recurrences } from './received.ts'
import { repliesTo } from './reply.ts'
import { createWorkerService } from './service.ts'

export { type WorkerSettings, workerSettings } from './config.ts'
export type { Receivables, Recurrences } from './received.ts'

export type WorkerDeps = {
  readonly sql: Client
  readonly broker: Pick<TransactionalBroker, 'consume' | 'publishIn' | 'settling'>
  readonly settings: WorkerSettings
  /** This institution's. */
  readonly ispb: string
  readonly revision: Revision
  /** False: each message is scanned in full, whatever came before it. */
  readonly learning?: boolean
  /** The versions that SPI_SCHEMA_DIR adds, as `pacs.008 1.18`. */
  readonly learnedVersions?: ReadonlySet<string>
  readonly emitEvents: Emit
  /** Undefined: no payment is owed to anybody whom we know. */
  readonly receivables?: Receivables | undefined
  /** Undefined: no recurrence is of anybody whom we know. */
  readonly recurrences?: Recurrences | undefined
  /** Tests set it. */
  readonly slowBackoff?: Backoff
  readonly logger: Logger
  readonly metrics: Metrics
}

const group = readers[topics.inboundPrimary]
/** Messages of one partition; the batches of all partitions are stored together. */
const batchSizeMax = 100
/** Rests between the tries of a message whose statements take too long. */
const slowBackoffDefault: Backoff = { backoffFirstMs: 10_000, backoffMaxMs: 60_000 }

/** WORKER: reads what was received, checks it, stores it and lets it answer what was sent. */
export const createWorker = (deps: WorkerDeps): Feature => {
  const { sql, broker, settings, ispb, revision, learning = true, logger } = deps
  const emitEvents = endingReturns(deps.emitEvents, deps.receivables)
  const { recurrences, receivables } = deps
  const now = (): Date => new Date()
  const trust = createTrust('SPI_TRUSTED_CERTS_PATH', settings.trustedCertificates, logger)
  const metrics = createWorkerMetrics(deps.metrics)
  const remembered = createPending({ ...deps, emitEvents, metrics })
  const reader = createInboundReader({
    verifier: trust.verifier,
    mustBeSigned: settings.signaturePolicy === 'enforce',
    ispb,
    now,
    learning,
    learnedVersions: deps.learnedVersions ?? new Set(),
  })
  const service = createWorkerService({
    sql,
    broker,
    read: reader.read,
    apply: {
      emitEvents,
      recurrences,
      group,
      now,
      receivables,
      answersTo: async (tx, facts) => {
        if (facts.length === 0) return []
        const at = now()
        const drafts = (await recurrences?.told(tx, facts, at)) ?? []
        return drafts.flatMap((draft) => {
          try {
            return [buildDraft(draft, { ispb, revision, now: at })]
          } catch (err) {
            // The institution that waits for our answer gives up in time; what it said is stored all the same.
            logger.error({ err, message_type: draft.type }, 'an answer cannot be built')
            return []
          }
        })
      },
      replies: (inbound, refusals) =>
        repliesTo(inbound, { ispb, revision, now, accepts: settings.autoAccept, refusals }),
    },
    slowBackoff: deps.slowBackoff ?? slowBackoffDefault,
    metrics,
    logger,
  })
  let consumers: readonly Consumer[] = []
  return {
    name: 'worker',
    certificates: usedFiles('message_signers', trust.material),
    start: () => {
      if (settings.autoAccept) {
        logger.warn({}, 'SPI_AUTO_ACCEPT: every payment received is accepted without asking anyone')
      }
      if (trust.verifier !== undefined && settings.signaturePolicy === 'advisory') {
        logger.warn({}, 'SPI_SIGNATURE_POLICY: messages that nobody whom we trust has signed count')
      }
      trust.start()
      void remembered.start()
      consumers = [topics.inboundPrimary, topics.inboundSecondary].map((topic) =>
        broker.consume({
          topic,
          group,
          batchSizeMax,
          handler: service.handle,
          isTransient: service.isTransient,
          backoffAfter: service.backoffAfter,
        }),
      )
    },
    drain: async () => {
      await Promise.all([...consumers.map((consumer) => consumer.drain()), remembered.stop()])
    },
    stop: async () => {
      trust.stop()
      await Promise.all(consumers.map((consumer) => consumer.stop()))
      reader.close()
    },
  }
}
