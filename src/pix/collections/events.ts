import type { AppEvent } from '#src/events/index.ts'
import { topicOf } from '../notices/domain.ts'
import type { Collection, CollectionStatus } from './domain.ts'
import { standingView } from './view.ts'

const statuses = {
  CRIADA: 'created',
  ATIVA: 'active',
  CONCLUIDA: 'concluded',
  EXPIRADA: 'expired',
  REJEITADA: 'rejected',
  CANCELADA: 'cancelled',
} as const satisfies Record<CollectionStatus, string>

/** A charge of a recurrence, or an attempt at it, has another status. */
export const collectionEvent = (collection: Collection): AppEvent => ({
  type: 'pix.collection.changed',
  subject: collection.txid,
  account: collection.account,
  data: {
    id_rec: collection.recurrenceId,
    txid: collection.txid,
    status: statuses[collection.status],
  },
  full: { cobsr: [standingView(collection)] },
  topic: topicOf('cobr', collection.account),
})
