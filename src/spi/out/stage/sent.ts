import { afterCommit, type Queryable } from '#src/platform/database/index.ts'
import { applyRemembered, type LateDeps, recordChanges, statusEvent } from '../../messages/index.ts'
import { type IsLate, sentLateAt } from './limits.ts'
import type { OutboundMetrics } from './metrics.ts'
import type { MessageOutcome } from './transport.ts'

export type Accepted = Extract<MessageOutcome, { kind: 'accepted' }>

type SentMessage = Parameters<IsLate>[0] &
  Parameters<typeof statusEvent>[0] & { readonly type: string }

/** Records that one was sent, and the answers to it that came before. If its answer is overdue, it stays UNKNOWN. */
export const recordSent = async (
  tx: Queryable,
  message: SentMessage,
  { resourceId, channel }: Accepted,
  deps: LateDeps & { readonly isLate: IsLate; readonly metrics: OutboundMetrics },
): Promise<void> => {
  const { isLate, emitEvents, metrics } = deps
  const { id, type } = message
  const status = 'SENT' as const
  const sentAt = sentLateAt(message)
  const change = { id, status, resourceId, detail: channel, isLate: isLate(message), sentAt }
  const { moved, cited } = await recordChanges(tx, [change])
  if (moved.size > 0) await emitEvents(tx, [statusEvent(message, change)])
  const recorded = { id, type, resourceId, isCited: cited.has(id) }
  const late = await applyRemembered(tx, [recorded], deps)
  afterCommit(tx, () => {
    if (moved.size > 0) metrics.onStatus(type, status)
    for (const one of late) metrics.onStatus(type, one.change.status)
  })
}
