import { type Client, ensurePartitions, type PartitionUnit } from '#src/platform/database/index.ts'
import { routesWithout } from '#src/platform/http/index.ts'
import { createJob } from '#src/platform/jobs/index.ts'
import type { Feature } from '#src/platform/lifecycle/index.ts'
import type { Logger } from '#src/platform/observe/index.ts'
import { messageErrors } from './errors.ts'
import { createMessageRetention, messageTables } from './retention.ts'
import { messageRoutes } from './routes.ts'
import { createMessageService } from './service.ts'

export { unawaitedAmong } from './awaited.ts'
export { endBooked, endDebited } from './booked.ts'
export { uuidForm } from './documents.ts'
export type {
  Channel,
  MessageOutcome,
  MessageStatus,
  MessageTransaction,
  NewMessage,
  Outcome,
  SignatureVerdict,
  StatusChange,
  Warning,
} from './domain.ts'
export {
  endOf,
  knownForMs,
  momentOf,
  neverSent,
  operationMoment,
  outcomeOfAll,
  refusedStatuses,
  replyOutcome,
  resolvedByHand,
} from './domain.ts'
export {
  canEnqueueAtOnce,
  enqueueAtOnce,
  enqueueMessages,
  type OutboundMessage,
  type Outbox,
  outboundHeaders,
  requeueMessages,
  type StoredQueued,
  storeForSending,
  type UnsignedMessage,
  unsignedMessageOf,
} from './enqueue.ts'
export { messageErrors } from './errors.ts'
export { statusEvent } from './events.ts'
export { processedMessages } from './metrics.ts'
export { createOpenMessages } from './open.ts'
export { SentAlreadyError } from './orders.ts'
export { refundEvents } from './refunds.ts'
export {
  applyCrossed,
  applyRemembered,
  endMessages,
  findSent,
  isHeeded,
  type LateAnswer,
  type LateDeps,
  rememberAnswers,
  type SentMessage,
} from './remembered.ts'
export {
  isKnown,
  noteRepetitions,
  type RepetitionOutcome,
  setRepetitionOutcomes,
} from './repetitions.ts'
export { replyType, reportedEnds, reportedReplies } from './replies.ts'
export { answeredTypes } from './retention.ts'
export {
  keptOf,
  type SendingRow,
  sendingOf,
  sendingOfMessage,
  sentBytes,
} from './sending.ts'
export {
  type AnsweredStatus,
  changeStatuses,
  idsByKey,
  insertMessages,
  othersUnderKnownKeys,
  recordChanges,
} from './store.ts'
export { endUnawaited, firstPlace } from './unawaited.ts'
export { endUnknown, saysUnsettled, withdrawEnds } from './unknown.ts'

export type MessagesDeps = {
  /** Undefined: the endpoints answer 503 and name DATABASE_DSN. */
  readonly sql: Client | undefined
  readonly retentionDays: number
  readonly partitionUnit: PartitionUnit
  readonly archiveDirectory: string | undefined
  readonly logger: Logger
}

/** Days that are made ahead bridge a week in which nothing could be made. */
const unitsAhead = { day: 7, month: 2 } as const satisfies Record<PartitionUnit, number>
const everyMs = 6 * 3_600_000

/** Stored instant-payment messages: their tables, and the endpoints that read them. */
export const createMessages = (deps: MessagesDeps): Feature => {
  const { sql, logger, archiveDirectory, retentionDays: days, partitionUnit: unit } = deps
  const common = { name: 'messages', errors: messageErrors }
  if (sql === undefined)
    return { ...common, routes: routesWithout(['DATABASE_DSN'], messageRoutes) }
  // Without its partition a row goes to the default one, so a failure here does not stop the service.
  const partitions = createJob({
    name: 'partitions of messages',
    everyMs,
    isAwaited: true,
    fleet: { sql },
    logger,
    run: async () => {
      for (const table of messageTables) {
        await ensurePartitions(sql, { ...table, unit }, unitsAhead[unit], new Date())
      }
    },
  })
  const retention = createMessageRetention({ sql, days, archiveDirectory, logger })
  return {
    ...common,
    routes: messageRoutes(createMessageService(sql)),
    start: async () => {
      await partitions.start()
      await retention.start()
    },
    drain: async () => {
      await Promise.all([partitions.stop(), retention.stop()])
    },
  }
}
