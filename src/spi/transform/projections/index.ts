import {
  type MessageIdentity,
  type PaymentMessageType,
  paymentsOf,
  type ReadProblem,
  readMessage,
} from '#codecs/iso20022'
import type { XmlDocument } from '#codecs/xml'
import { type Enrichment, enrichmentsOf, pixPayment } from './pix-payment.ts'
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
  identity: MessageIdentity & { readonly type: PaymentMessageType },
  enrich: boolean,
): Projection => {
  // Nearly all of the traffic: nothing is read but what the result holds.
  if (identity.type === 'pacs.008' && !enrich) return projectPayments(document, [])
  const reading = readMessage(document, identity)
  if (!reading.ok) return reading
  const { message } = reading
  const { messageDefinitionId } = message.header
  switch (message.type) {
    case 'pacs.008':
      return projectPayments(document, enrichmentsOf(message))
    case 'pacs.002':
      return { ok: true, messageDefinitionId, result: pixStatus(message, enrich) }
    case 'pacs.004':
      return { ok: true, messageDefinitionId, result: pixReturn(message, enrich) }
  }
}

const projectPayments = (document: XmlDocument, enrichments: readonly Enrichment[]): Projection => {
  const reading = paymentsOf(document)
  if (!reading.ok) return reading
  const { messageDefinitionId, payments } = reading
  return { ok: true, messageDefinitionId, result: pixPayment(document, payments, enrichments) }
}
