import {
  type MessageIdentity,
  type PaymentMessage,
  type PaymentMessageType,
  paymentsOf,
  type ReadProblem,
  readMessage,
  readWithPayments,
} from '#codecs/iso20022'
import type { XmlDocument } from '#codecs/xml'
import { enrichmentsOf, pixPayment } from './pix-payment.ts'
import { pixReturn } from './pix-return.ts'
import { pixStatus } from './pix-status.ts'

export type Projection =
  | {
      readonly ok: true
      /** What the message's header says it is. */
      readonly messageDefinitionId: string
      /** JSON. */
      readonly result: string
    }
  | { readonly ok: false; readonly problems: readonly ReadProblem[] }

/** The business view of a scanned message. */
export const project = (
  document: XmlDocument,
  { type, version }: MessageIdentity & { readonly type: PaymentMessageType },
  enrich: boolean,
): Projection => {
  switch (type) {
    case 'pacs.008':
      return enrich ? enrichedPayments(document, version) : plainPayments(document)
    case 'pacs.002': {
      const reading = readMessage(document, { type, version })
      return reading.ok ? projected(reading.message, pixStatus(reading.message, enrich)) : reading
    }
    case 'pacs.004': {
      const reading = readMessage(document, { type, version })
      return reading.ok ? projected(reading.message, pixReturn(reading.message, enrich)) : reading
    }
  }
}

/** Nearly all of the traffic: nothing is read but what the result holds. */
const plainPayments = (document: XmlDocument): Projection => {
  const reading = paymentsOf(document)
  if (!reading.ok) return reading
  const { messageDefinitionId, payments } = reading
  return { ok: true, messageDefinitionId, result: pixPayment(document, payments, []) }
}

const enrichedPayments = (document: XmlDocument, version: string): Projection => {
  const reading = readWithPayments(document, version)
  if (!reading.ok) return reading
  const { message, payments } = reading
  return projected(message, pixPayment(document, payments, enrichmentsOf(message)))
}

const projected = ({ header }: PaymentMessage, result: string): Projection => ({
  ok: true,
  messageDefinitionId: header.messageDefinitionId,
  result,
})
