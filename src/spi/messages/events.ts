import type { AppEvent } from '#src/events/index.ts'
import type { StatusChange } from './domain.ts'

/** Reports the new status of a message that we sent. */
export const statusEvent = (
  sent: {
    readonly id: string
    readonly type: string | null
    readonly channel: string | null
    readonly endToEndId: string | null
    readonly bizMsgIdr: string | null
  },
  change: StatusChange,
): AppEvent => ({
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
