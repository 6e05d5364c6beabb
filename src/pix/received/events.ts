import { formatCents } from '#codecs/iso20022'
import type { AppEvent } from '#src/events/index.ts'
import { topicOf } from '../notices/domain.ts'
import type { Pix, PixReturn } from './domain.ts'
import { pixView } from './view.ts'

/** The standard tells of a Pix with a txid, to whoever has the webhook of its key. */
const shared = (pix: Pix) => ({
  subject: pix.endToEndId,
  account: pix.account,
  full: { pix: [pixView(pix)] },
  topic: pix.txid === null || pix.key === null ? undefined : topicOf('pix', pix.key),
})

/** A Pix is settled. */
export const receivedEvent = (pix: Pix): AppEvent => ({
  ...shared(pix),
  type: 'pix.received',
  data: {
    end_to_end_id: pix.endToEndId,
    txid: pix.txid,
    amount: formatCents(pix.amountCents),
    settled_at: pix.settledAt.toISOString(),
  },
})

/** A return of a Pix has ended. */
export const returnedEvent = (pix: Pix, one: PixReturn): AppEvent => ({
  ...shared(pix),
  type: 'pix.returned',
  data: {
    end_to_end_id: pix.endToEndId,
    txid: pix.txid,
    amount: formatCents(one.amountCents),
    return_id: one.id,
    rtr_id: one.returnId,
    status: one.status === 'DEVOLVIDO' ? 'settled' : 'rejected',
  },
})
