import type { AppEvent } from '#src/events/index.ts'
import { topicOf } from '../notices/domain.ts'
import type { Recurrence, RecurrenceStatus } from './domain.ts'
import { standingView } from './view.ts'

const statuses = {
  CRIADA: 'created',
  APROVADA: 'approved',
  REJEITADA: 'rejected',
  EXPIRADA: 'expired',
  CANCELADA: 'cancelled',
} as const satisfies Record<RecurrenceStatus, string>

/** A recurrence has another status. */
export const recurrenceEvent = (recurrence: Recurrence): AppEvent => ({
  type: 'pix.recurrence.changed',
  subject: recurrence.id,
  account: recurrence.account,
  data: { id_rec: recurrence.id, status: statuses[recurrence.status] },
  full: { recs: [standingView(recurrence)] },
  topic: topicOf('rec', recurrence.account),
})
