import type { Queryable } from '#src/platform/database/index.ts'
import type { StatusChange } from './domain.ts'

export type SpiEvent = {
  readonly type: string
  readonly subject: string
  readonly data: Readonly<Record<string, unknown>>
}

/** The port to the webhooks: written in the caller's transaction. */
export type EmitEvents = (tx: Queryable, events: readonly SpiEvent[]) => Promise<void>

/** What became of a message that was sent. */
export const statusEvent = (
  sent: {
    readonly id: string
    readonly type: string | null
    readonly channel: string | null
    readonly endToEndId: string | null
    readonly bizMsgIdr: string | null
  },
  change: StatusChange,
): SpiEvent => ({
  type: 'message.status',
  subject: sent.endToEndId ?? sent.bizMsgIdr ?? sent.id,
  data: {
    message_id: sent.id,
    type: sent.type,
    direction: 'OUTBOUND',
    status: change.status,
    channel: sent.channel,
    end_to_end_id: sent.endToEndId,
    biz_msg_idr: sent.bizMsgIdr,
    detail: change.detail ?? null,
  },
})
