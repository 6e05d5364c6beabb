import type { Emit } from '#src/events/index.ts'
import { type Consumer, type TransactionalBroker, topics } from '#src/platform/broker/index.ts'
import type { Client } from '#src/platform/database/index.ts'
import { createJob } from '#src/platform/jobs/index.ts'
import { type Check, checkReach, type Feature, isProxied } from '#src/platform/lifecycle/index.ts'
import type { Logger, Metrics } from '#src/platform/observe/index.ts'
import {
  type KeyMaterial,
  tlsOptionsOf,
  usedFiles,
  warnOfClearText,
} from '#src/platform/security/index.ts'
import { endingReturns, type Receivables, type Recurrences } from '../../in/worker/received.ts'
import type { InterfaceClient } from '../../link/index.ts'
import { type SigningSettings, serviceMaterial } from '../signing/index.ts'
import { type ChannelHealth, createChannelHealth } from './channel-health.ts'
import type { OutboundSettings } from './config.ts'
import { createBury } from './dead-letters.ts'
import { createHandler, group } from './handle.ts'
import { type AnswerLimits, createIsLate, type IsLate } from './limits.ts'
import { createOutboundMetrics, type OutboundMetrics } from './metrics.ts'
import { createRequeue } from './requeue.ts'
import { createSendNow, type SendNow } from './send-now.ts'
import { createSigning, type Sign, withSigning } from './signing.ts'
import { countUnknown } from './store.ts'
import {
  createIsPassedOver,
  createTransport,
  createWayOfLines,
  type Transport,
  waysOf,
} from './transport.ts'
import { createWatch, type WatchTimes } from './watch.ts'

export { outboundSettings } from './config.ts'
export { createLetterSubjects, createRefusals } from './dead-letters.ts'
export { type ReadyMessage, type SendNow, waitingAway } from './send-now.ts'

export type OutboundDeps = {
  readonly sql: Client
  readonly broker: Pick<
    TransactionalBroker,
    'backlog' | 'consume' | 'leaseLeftMs' | 'publishIn' | 'settleIn' | 'settling'
  >
  readonly client: InterfaceClient
  readonly settings: OutboundSettings
  readonly signing: SigningSettings
  /** What signs in this process, of `signingMaterial`; undefined for the external service, or none. */
  readonly signingMaterial?: KeyMaterial | undefined
  readonly emitEvents: Emit
  /** Undefined: nobody waits for the ends of returns. */
  readonly receivables?: Receivables | undefined
  /** Undefined: no recurrence is of anybody whom we know. */
  readonly recurrences?: Recurrences | undefined
  readonly logger: Logger
  readonly metrics: Metrics
  /** Tests set these; otherwise the defaults apply. */
  readonly watchTimes?: Partial<WatchTimes>
  readonly requeueEveryMs?: number
  /** After so long one request looks whether a channel that was down is back. */
  readonly lookAfterMs?: number
  /** True: the process has work without sending: it takes requests, and keeps them. */
  readonly takesRequests?: boolean
  /** False: the process runs without the role OUTBOUND_SEND. */
  readonly runsStage?: boolean
}

/** Messages of one partition. Its next batch waits for the slowest of this one, so fewer would leave cores idle. */
const batchSizeMax = 200
/** A bucket of the secondary channel fills in ten seconds by day: less often, and it would stand full. */
const requeueEveryMsDefault = 5_000

export type OutboundFeature = Feature & { readonly sendNow: SendNow }

/**
 * Signs and sends. As OUTBOUND_SEND it sends what is queued and makes sure that payments get an answer; without the
 * role it only sends what a request hands it (`sendNow`), over the same connections.
 */
export const createOutbound = (given: OutboundDeps): OutboundFeature => {
  const deps = { ...given, emitEvents: endingReturns(given.emitEvents, given.receivables) }
  const { sql, broker, client, settings, emitEvents, recurrences, receivables, logger } = deps
  const metrics = createOutboundMetrics(deps.metrics, () => countUnknown(sql))
  const { lookAfterMs } = deps
  const health = createChannelHealth({ channels: client.channels, logger, lookAfterMs })
  const transport = createTransport({
    client,
    health,
    requestsMax: settings.requestsMax,
    isFailover: settings.channelFailover,
  })
  const own = deps.signingMaterial
  const service = own === undefined ? serviceMaterial(deps.signing) : undefined
  const signing = createSigning(deps.signing, { own, service }, metrics, logger)
  const { sign } = signing
  const limits = {
    settlementLimitMs: settings.settlementLimitSeconds * 1000,
    scheduledLimitMs: settings.scheduledLimitSeconds * 1000,
  }
  const isLate = createIsLate(limits)
  const timeoutMs = settings.syncTimeoutSeconds * 1000
  const parts = { sign, transport, metrics, isLate, health }
  const isSignedElsewhere = own === undefined
  const told = { emitEvents, recurrences, receivables }
  const sendNow = createSendNow({ ...parts, ...told, isSignedElsewhere, outbox: broker, timeoutMs })
  const stage = deps.runsStage === false ? undefined : createStage(deps, { ...parts, limits })
  return {
    name: 'outbound',
    certificates: usedFiles('signature_service', service),
    sendNow,
    start: async () => {
      if (own === undefined) {
        const { serviceUrl } = deps.signing
        warnOfClearText(logger, 'SPI_SIGNATURE_SERVICE_URL', serviceUrl, 'payments to sign')
      }
      await signing.start()
      stage?.start()
    },
    drain: () => stage?.drain(),
    health: () => withSigning(health.check(), signing.problem(), deps.takesRequests ?? true),
    checks: () => checksOf(deps.signing),
    stop: async () => {
      await stage?.stop()
      await signing.close()
    },
  }
}

/** The service is asked only where no certificate of ours signs. */
const checksOf = async (signing: SigningSettings): Promise<readonly Check[]> => {
  const { enabled, serviceUrl, certificate, certificateSource } = signing
  if (!enabled || serviceUrl === undefined || isProxied(serviceUrl)) return []
  if (certificateSource === 'store' || certificate !== undefined) return []
  const { serviceCertificate, serviceKey: key, serviceCa: ca } = signing
  const tls = tlsOptionsOf({ certificate: serviceCertificate, key, ca })
  return [await checkReach('Signature service', serviceUrl, 'SPI_SIGNATURE_SERVICE_URL', tls)]
}

/** Builds what OUTBOUND_SEND runs. */
const createStage = (
  deps: OutboundDeps,
  parts: {
    readonly sign: Sign
    readonly transport: Transport
    readonly metrics: OutboundMetrics
    readonly limits: AnswerLimits
    readonly isLate: IsLate
    readonly health: ChannelHealth
  },
) => {
  const { sql, broker, client, settings, emitEvents, logger } = deps
  const { metrics, limits } = parts
  const { channels } = client
  const isPassedOver = createIsPassedOver(channels, settings.channelFailover, parts.health)
  const wayOfLines = createWayOfLines(channels, isPassedOver)
  const watch = createWatch({ ...deps, ...parts, times: deps.watchTimes })
  const requeue = createJob({
    name: 'search for lost queue entries',
    everyMs: deps.requeueEveryMs ?? requeueEveryMsDefault,
    isVital: true,
    run: createRequeue({
      ...deps,
      group,
      room: (line) => client.room(wayOfLines(), line),
      queuedLongMs: limits.settlementLimitMs,
      onRequeued: metrics.onRequeued,
    }),
    logger,
  })
  const { handle, isTransient, isToldElsewhere } = createHandler({
    ...deps,
    ...parts,
    wayOfLines,
    channels,
    ways: (message) => waysOf(message, channels, settings.channelFailover),
    setAsideMs: deps.requeueEveryMs ?? requeueEveryMsDefault,
  })
  let consumer: Consumer | undefined
  return {
    start: (): void => {
      consumer = broker.consume({
        topic: topics.outbound,
        group,
        batchSizeMax,
        handler: handle,
        isTransient,
        isToldElsewhere,
        bury: createBury({ sql, broker, emitEvents, metrics }),
      })
      void watch.start()
      void requeue.start()
    },
    drain: async (): Promise<void> => {
      await Promise.all([consumer?.drain(), watch.stop(), requeue.stop()])
    },
    stop: () => consumer?.stop(),
  }
}
