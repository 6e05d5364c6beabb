import type { AppEvent } from '#src/events/index.ts'
import type { Queryable } from '#src/platform/database/index.ts'
import { topicOf } from '../notices/domain.ts'
import type { Pix } from '../received/domain.ts'
import { pixByIds } from '../received/store.ts'
import { type Collection, type CollectionStatus, paidIds } from './domain.ts'
import { standingView } from './view.ts'

const statuses = {
  CRIADA: 'created',
  ATIVA: 'active',
  CONCLUIDA: 'concluded',
  EXPIRADA: 'expired',
  REJEITADA: 'rejected',
  CANCELADA: 'cancelled',
} as const satisfies Record<CollectionStatus, string>

/** Charges of recurrences, or attempts at them, have another status, or Pix of them were given back. */
export const collectionEvents = async (
  sql: Queryable,
  collections: readonly Collection[],
): Promise<readonly AppEvent[]> => {
  const paid = await pixByIds(sql, collections.flatMap(paidIds))
  return collections.map((one) => {
    const pix = paidIds(one).flatMap((id) => paid.get(id) ?? [])
    return collectionEvent(one, pix)
  })
}

const collectionEvent = (collection: Collection, paid: readonly Pix[]): AppEvent => ({
  type: 'pix.collection.changed',
  subject: collection.txid,
  account: collection.account,
  data: {
    id_rec: collection.recurrenceId,
    txid: collection.txid,
    status: statuses[collection.status],
  },
  full: { cobsr: [standingView(collection, paid)] },
  topic: topicOf('cobr', collection.account),
})
