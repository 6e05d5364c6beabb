/** Ends a message of unknown outcome as a person has learnt from the central bank, which no longer answers for it itself. */
import { z } from 'zod'
import type { Emit } from '#src/events/index.ts'
import { afterCommit, type Client, type Transaction } from '#src/platform/database/index.ts'
import {
  type Answered,
  ApiError,
  actorOf,
  type Caller,
  httpErrors,
  idParams,
  type Route,
  type RouteContract,
  respond,
  route,
  routesWithout,
  runOnce,
  writeAudit,
} from '#src/platform/http/index.ts'
import type { Feature } from '#src/platform/lifecycle/index.ts'
import type { Metrics } from '#src/platform/observe/index.ts'
import { findSensitive } from '#src/platform/security/index.ts'
import { endingReturns, type Receivables, type Recurrences } from '../../in/worker/received.ts'
import { orderTypes } from '../../messages/domain.ts'
import {
  endDebited,
  endUnknown,
  isKnown,
  knownForMs,
  type LateDeps,
  type MessageStatus,
  type Outcome,
  replyType,
  resolvedByHand,
  saysUnsettled,
  uuidForm,
} from '../../messages/index.ts'
import { createOnStatus } from '../stage/metrics.ts'
import { resolveErrors } from './errors.ts'

const bodyBytesMax = 4_096
const reasonCharsMax = 200
// biome-ignore lint/suspicious/noControlCharactersInRegex: it is what keeps them out
const reasonText = /^(?=[\s\S]*\S)[^\u0000-\u001f\u007f-\u009f]+$/

const resolution = z
  .strictObject({
    outcome: z.enum(['ACCEPTED', 'REJECTED']).meta({
      description:
        'What the central bank has made of it, or would: `ACCEPTED` says that its payments settled.',
    }),
    reason: z
      .string()
      .min(1)
      .max(reasonCharsMax)
      .regex(reasonText, 'must be printable text')
      .refine((value) => findSensitive(value) !== 'card number', 'must hold no card number')
      .meta({
        pattern: reasonText.source,
        description:
          'Who confirmed it, and where that is noted: the history of the message keeps it. No personal data.',
        example: 'camt.054 of 27 November has the debit; desk of the central bank, case 4711',
      }),
  })
  .meta({ id: 'MessageResolution' })

type Resolution = z.infer<typeof resolution>

const resolved = z.object({
  id: z.uuid(),
  biz_msg_idr: z.string(),
  end_to_end_id: z.string().nullable(),
  status: z.enum(['ACCEPTED', 'REJECTED']),
})

const document = {
  at: 'POST /v1/spi/messages/{id}/resolve',
  scope: 'ops:admin',
  ofInstitution: true,
  bodyBytesMax,
  operation: 'resolveMessage',
  summary: 'Tell how a message of unknown outcome ended',
  description:
    'For what is UNKNOWN a day after it was sent, when the central bank no longer recognises a repetition, so that nothing but a person ends it: ask the central bank first, by `POST /v1/pix/reports`, whose camt.054 ends what was booked, or at its desk. The message ends as its answer would have ended it, events included, and its `error_code` is `resolved`. What the central bank says of it later counts, and corrects it. One of several payments or returns is ended by the central bank alone.',
  params: idParams,
  exampleFrom: { id: 'listMessages?status=UNKNOWN#/messages/0/id' },
  idempotent: true,
  body: { 'application/json': resolution },
  responses: { 200: { description: 'It has ended', schema: resolved } },
  errors: [resolveErrors.resolution_not_possible],
} as const satisfies RouteContract

export type ResolveDeps = {
  /** Undefined: the endpoint answers 503 and names DATABASE_DSN. */
  readonly sql: Client | undefined
  readonly emitEvents: Emit
  readonly receivables: Pick<Receivables, 'end'> | undefined
  readonly recurrences: Recurrences | undefined
  readonly metrics: Metrics
}

type Resolve = (id: string, asked: Resolution, caller: Caller) => Promise<Answered>

export const createResolve = ({ sql, ...deps }: ResolveDeps): Feature => {
  const routesOn = (sql: Client): readonly Route[] => [routeOf(resolveOn(sql, deps))]
  return {
    name: 'resolve',
    errors: resolveErrors,
    routes: sql === undefined ? routesWithout(['DATABASE_DSN'], routesOn) : routesOn(sql),
  }
}

const routeOf = (resolve: Resolve): Route =>
  route(document, async ({ params, body, caller }) => {
    const id = params.id.toLowerCase()
    if (!uuidForm.test(id)) throw noMessage()
    return respond(await resolve(id, body, caller))
  })

const resolveOn = (sql: Client, { metrics, ...deps }: Omit<ResolveDeps, 'sql'>): Resolve => {
  const onStatus = createOnStatus(metrics)
  const emitEvents = endingReturns(deps.emitEvents, deps.receivables)
  const late: LateDeps = { ...deps, emitEvents }
  return (id, { outcome, reason }, caller) =>
    runOnce(sql, caller.idempotencyKey, async (tx) => {
      const { type, bizMsgIdr, endToEndId } = await lockUnknown(tx, id, outcome)
      await noteReason(tx, id, outcome, reason)
      const end = { outcome, detail: resolvedByHand, errorCode: resolvedByHand } as const
      // The central bank may have told that it is booked: no person says otherwise.
      const booked = await endDebited(tx, { id, type }, late)
      if (booked !== undefined && outcome === 'REJECTED') throw hasEnded(booked.change.status)
      const ended = booked ?? (await endUnknown(tx, { id, type }, end, late))
      if (ended === undefined) throw new Error('what is locked and UNKNOWN can be ended')
      const { status } = ended.change
      const act = { action: 'spi.resolve', object: id, outcome: status.toLowerCase() } as const
      await writeAudit(tx, { ...act, actor: actorOf(caller) })
      afterCommit(tx, () => onStatus(type, status))
      const body = { id, biz_msg_idr: bizMsgIdr, end_to_end_id: endToEndId, status }
      return { status: 200, body: JSON.stringify(body) }
    })
}

type Found = {
  readonly type: string
  readonly direction: string
  readonly status: MessageStatus
  readonly bizMsgIdr: string
  readonly endToEndId: string | null
  readonly transactionCount: number
  /** The gateway asks for it by itself. */
  readonly isAsked: boolean
}

/** Messages that ask a payer's institution for something. */
const requestTypes: readonly string[] = ['pain.009', 'pain.013']

/** By the clock of the database. */
const lockUnknown = async (tx: Transaction, id: string, outcome: Outcome): Promise<Found> => {
  const [clock] = await tx<{ now: Date }[]>`select clock_timestamp() as now`
  const from = new Date((clock?.now.getTime() ?? Date.now()) - knownForMs)
  const [found] = await tx<Found[]>`
    select type, direction, status, biz_msg_idr as "bizMsgIdr", end_to_end_id as "endToEndId",
      transaction_count as "transactionCount", ${isKnown(tx, from)} is true as "isAsked"
    from spi_messages where id = ${id}::uuid for update`
  if (found === undefined) throw noMessage()
  const { type, direction, status, transactionCount, isAsked } = found
  const refuse = (reason: string, message: string) => refusalOf(status, reason, message)
  if (direction !== 'OUTBOUND') throw refuse('received', 'The message was received, not sent.')
  if (status === 'QUEUED' || status === 'SENT') {
    throw refuse('waiting', `The message is ${status}: its answer is not overdue.`)
  }
  if (status !== 'UNKNOWN') throw hasEnded(status)
  if (isAsked) {
    throw refuse('still_asked', 'The message went out within a day: the gateway still asks for it.')
  }
  if (transactionCount > 1 && orderTypes.some((one) => one === type)) {
    throw refuse('several', 'The message has several parts: the central bank ends each by itself.')
  }
  if (type === replyType && !(await saysUnsettled(tx, id, outcome))) {
    throw refuse('settled', 'That would say that a received payment settled: only a report tells.')
  }
  // A second request beside a first that arrived after all would be paid twice.
  if (requestTypes.includes(type) && outcome === 'REJECTED') {
    throw refuse('request', 'The institution of the payer may still answer: tell ACCEPTED.')
  }
  return found
}

const refusalOf = (status: MessageStatus, reason: string, message: string): ApiError =>
  new ApiError(resolveErrors.resolution_not_possible, message, {
    details: { reason, message_status: status },
  })

const hasEnded = (status: MessageStatus): ApiError =>
  refusalOf(status, 'ended', `The message is ${status}, which is its end.`)

/** The status that follows has a code alone, as every other. */
const noteReason = async (
  tx: Transaction,
  id: string,
  outcome: Outcome,
  reason: string,
): Promise<void> => {
  await tx`
    insert into spi_history (message_id, position, status, detail)
    select ${id}::uuid, 1 + coalesce(max(position), -1), 'UNKNOWN', ${`a person says ${outcome}: ${reason}`}
    from spi_history where message_id = ${id}::uuid`
}

const noMessage = (): ApiError => new ApiError(httpErrors.not_found, 'No such message.')
