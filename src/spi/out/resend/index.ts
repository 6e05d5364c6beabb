/** Sends the same bytes again because a person asks for it, sooner than the watch of unanswered messages would. */
import { z } from 'zod'
import type { Client, Transaction } from '#src/platform/database/index.ts'
import {
  type Answered,
  ApiError,
  actorOf,
  type Caller,
  httpErrors,
  idParams,
  type Route,
  respond,
  route,
  routesWithout,
  runOnce,
  writeAudit,
} from '#src/platform/http/index.ts'
import type { Feature } from '#src/platform/lifecycle/index.ts'
import {
  isKnown,
  knownForMs,
  type MessageStatus,
  momentOf,
  uuidForm,
} from '../../messages/index.ts'
import { resendErrors } from './errors.ts'

const taken = z.object({
  id: z.uuid(),
  biz_msg_idr: z.string(),
  end_to_end_id: z.string().nullable(),
  status: z.literal('UNKNOWN'),
  resend_asked_at: z.iso.datetime().meta({
    description: 'The first time, if it was asked for several times before it was sent again.',
  }),
})

const document = {
  at: 'POST /v1/spi/messages/{id}/resend',
  scope: 'spi:send',
  operation: 'resendMessage',
  summary: 'Sends a message of unknown outcome again at once',
  description:
    'The same bytes, which the central bank recognises for a day and answers as it would have answered the first time: nothing is paid twice. The gateway does this by itself at growing intervals; this does not wait for the next of them. `history` of the message tells what came of it.',
  params: idParams,
  exampleFrom: { id: 'listMessages?status=UNKNOWN#/messages/0/id' },
  idempotent: true,
  responses: { 202: { description: 'It is sent again within seconds', schema: taken } },
  errors: [resendErrors.resend_not_possible],
} as const

type Resend = (id: string, caller: Caller) => Promise<Answered>

/** @param sql undefined: the endpoint answers 503 and names DATABASE_DSN */
export const createResend = ({ sql }: { readonly sql: Client | undefined }): Feature => {
  const common = { name: 'resend', errors: resendErrors }
  if (sql !== undefined) return { ...common, routes: [routeOf(resendOn(sql))] }
  return {
    ...common,
    routes: routesWithout(['DATABASE_DSN'], (sql: Client) => [routeOf(resendOn(sql))]),
  }
}

const routeOf = (resend: Resend): Route =>
  route(document, async ({ params, caller }) => {
    const id = params.id.toLowerCase()
    if (!uuidForm.test(id)) throw noMessage()
    return respond(await resend(id, caller))
  })

const resendOn =
  (sql: Client): Resend =>
  (id, caller) =>
    runOnce(sql, caller.idempotencyKey, async (tx) => {
      const { bizMsgIdr, endToEndId, askedAt } = await ask(tx, id, Date.now())
      const act = { action: 'spi.resend', object: id, outcome: 'asked' } as const
      await writeAudit(tx, { ...act, actor: actorOf(caller) })
      const body: z.infer<typeof taken> = {
        id,
        biz_msg_idr: bizMsgIdr,
        end_to_end_id: endToEndId,
        status: 'UNKNOWN',
        resend_asked_at: askedAt.toISOString(),
      }
      return { status: 202, body: JSON.stringify(body) }
    })

type Asked = {
  readonly bizMsgIdr: string
  readonly endToEndId: string | null
  readonly askedAt: Date
}

/** Leaves word for the watch, whichever process runs it. Who asks twice before it has come by asks once. */
const ask = async (tx: Transaction, id: string, nowMs: number): Promise<Asked> => {
  const [asked] = await tx<Asked[]>`
    with message as materialized (
      select id, biz_msg_idr, end_to_end_id from spi_messages
      where id = ${id} and direction = 'OUTBOUND' and status = 'UNKNOWN'
        and ${isKnown(tx, new Date(nowMs - knownForMs))}
    ), wish as (
      insert into spi_resends (message_id, asked_at) select id, now() from message
      on conflict (message_id) do update set asked_at = spi_resends.asked_at
      returning asked_at
    )
    select biz_msg_idr as "bizMsgIdr", end_to_end_id as "endToEndId", asked_at as "askedAt"
    from message, wish`
  if (asked !== undefined) return asked
  const [found] = await tx<Found[]>`
    select status, direction, coalesce(sent_at, in_doubt_since) as "sentAt"
    from spi_messages where id = ${id}`
  if (found === undefined) throw noMessage()
  throw refusalOf(id, found)
}

const noMessage = (): ApiError => new ApiError(httpErrors.not_found, 'No such message.')

type Found = {
  readonly status: MessageStatus
  readonly direction: string
  /** Null: soon after it was made. */
  readonly sentAt: Date | null
}

const refusalOf = (id: string, { status, direction, sentAt }: Found): ApiError => {
  const refuse = (reason: string, message: string): ApiError =>
    new ApiError(resendErrors.resend_not_possible, message, {
      details: { reason, message_status: status },
    })
  if (direction !== 'OUTBOUND') return refuse('received', 'The message was received, not sent.')
  if (status === 'QUEUED' || status === 'SENT') {
    return refuse('waiting', `The message is ${status}: its answer is not overdue.`)
  }
  if (status !== 'UNKNOWN') return refuse('ended', `The message is ${status}, which is its end.`)
  const day = (sentAt ?? momentOf(id)).toISOString()
  return refuse('too_old', `The message is of ${day}: the central bank knows it no longer.`)
}
