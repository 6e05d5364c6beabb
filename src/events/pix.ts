import { z } from 'zod'
import { type EventGroups, money, text } from './group.ts'

const payment = {
  end_to_end_id: z.string(),
  txid: text.meta({ description: 'Of the charge, or what a static QR code held.' }),
  amount: money,
}

const receivedPix = z
  .strictObject({ ...payment, settled_at: z.iso.datetime() })
  .meta({ id: 'ReceivedPixEvent' })

const returnedPix = z
  .strictObject({
    ...payment,
    return_id: z.string().meta({ description: 'The one that the receiver gave.' }),
    rtr_id: z.string().meta({ description: 'RtrId.' }),
    status: z.enum(['settled', 'rejected']),
  })
  .meta({ id: 'ReturnedPixEvent' })

const recurrence = z
  .strictObject({
    id_rec: z.string(),
    status: z.enum(['created', 'approved', 'rejected', 'expired', 'cancelled']),
  })
  .meta({ id: 'RecurrenceEvent' })

const collection = z
  .strictObject({
    id_rec: z.string(),
    txid: z.string(),
    status: z.enum(['created', 'active', 'concluded', 'expired', 'rejected', 'cancelled']),
  })
  .meta({ id: 'CollectionEvent' })

export const pixEvents = {
  received_pix: {
    payload: receivedPix,
    subject: 'end_to_end_id',
    types: { 'pix.received': 'A Pix to a receiver of the account is settled.' },
  },
  returned_pix: {
    payload: returnedPix,
    subject: 'end_to_end_id',
    types: { 'pix.returned': 'A return that the receiver asked for has ended.' },
  },
  recurrences: {
    payload: recurrence,
    subject: 'id_rec',
    types: { 'pix.recurrence.changed': 'A recurrence of a receiver has another status.' },
  },
  collections: {
    payload: collection,
    subject: 'txid',
    types: {
      'pix.collection.changed':
        'A charge of a recurrence (`cobr`), or an attempt at it, has another status, or a return of its Pix has ended.',
    },
  },
} as const satisfies EventGroups
