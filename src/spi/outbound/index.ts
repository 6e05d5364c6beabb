import { type Consumer, type TransactionalBroker, topics } from '#src/platform/broker/index.ts'
import type { Client } from '#src/platform/database/index.ts'
import type { Feature } from '#src/platform/lifecycle/index.ts'
import type { Logger, Metrics } from '#src/platform/telemetry/index.ts'
import type { InterfaceClient } from '../interface/index.ts'
import type { EmitEvents } from '../messages/index.ts'
import { createEnvelopeSigner, createSigner, type SigningSettings } from '../signing/index.ts'
import type { OutboundSettings } from './config.ts'
import { createHandler, group } from './handle.ts'
import { createOutboundMetrics } from './metrics.ts'
import { createRequeue } from './requeue.ts'
import { createRounds } from './rounds.ts'
import { countUnknown } from './store.ts'
import { createTransport } from './transport.ts'
import { createWatch, type WatchTimes } from './watch.ts'

export { type OutboundSettings, outboundSettings } from './config.ts'

export type OutboundDeps = {
  readonly sql: Client
  readonly broker: Pick<TransactionalBroker, 'backlog' | 'consume' | 'publishIn' | 'wake'>
  readonly client: InterfaceClient
  readonly settings: OutboundSettings
  readonly signing: SigningSettings
  readonly emitEvents: EmitEvents
  readonly logger: Logger
  readonly metrics: Metrics
  /** Other than the defaults, for tests. */
  readonly watchTimes?: Partial<WatchTimes>
  readonly requeueEveryMs?: number
}

/** Of one partition. */
const batchSizeMax = 50
const requeueEveryMsDefault = 10_000

/** OUTBOUND_SEND: signs and sends what is queued, and sees to it that payments are answered. */
export const createOutbound = (deps: OutboundDeps): Feature => {
  const { sql, broker, client, settings, emitEvents, logger } = deps
  const metrics = createOutboundMetrics(deps.metrics, () => countUnknown(sql))
  const transport = createTransport({
    client,
    requestsMax: settings.requestsMax,
    isFailover: settings.channelFailover,
  })
  const watch = createWatch({
    sql,
    transport,
    emitEvents,
    settlementLimitMs: settings.settlementLimitSeconds * 1000,
    metrics,
    logger,
    ...(deps.watchTimes === undefined ? {} : { times: deps.watchTimes }),
  })
  const requeue = createRounds(
    deps.requeueEveryMs ?? requeueEveryMsDefault,
    createRequeue({
      sql,
      broker,
      group,
      queuedLongMs: settings.settlementLimitSeconds * 1000,
      onRequeued: metrics.onRequeued,
      logger,
    }),
    (err) => logger.error({ err }, 'lost queue entries were not looked for'),
  )
  let consumer: Consumer | undefined
  let closeSigner = (): void => {}
  return {
    name: 'outbound',
    start: async () => {
      const signer = await createSigner(deps.signing, (err) =>
        logger.error({ err }, 'the new signing certificate cannot be used, the old one stays'),
      )
      closeSigner = signer.close
      const { handle, isTransient } = createHandler({
        sql,
        broker,
        signer: createEnvelopeSigner(signer),
        provider: 'provider' in signer ? String(signer.provider) : signer.kind,
        transport,
        emitEvents,
        metrics,
        logger,
      })
      consumer = broker.consume({
        topic: topics.outbound,
        group,
        batchSizeMax,
        handler: handle,
        isTransient,
      })
      watch.start()
      requeue.start()
    },
    drain: async () => {
      await Promise.all([consumer?.drain(), watch.stop(), requeue.stop()])
    },
    stop: async () => {
      await consumer?.stop()
      closeSigner()
    },
  }
}
