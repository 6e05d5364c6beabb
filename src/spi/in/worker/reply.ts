import {
  buildMessage,
  definitionOf,
  isMessageType,
  messageDefinitionIdOf,
  type Revision,
  spiIspb,
} from '#codecs/iso20022'
import { traceHeader } from '#src/platform/broker/index.ts'
import { newUuid } from '#src/platform/runtime/index.ts'
import { isTrusted } from '../../messages/domain.ts'
import type { OutboundMessage } from '../../messages/index.ts'
import type { TransactionView } from '../../messages/view.ts'
import { random } from '../../random.ts'
import type { ReadInbound } from './read.ts'

export type ReplyContext = {
  /** SPI_AUTO_ACCEPT: what is not refused is accepted. */
  readonly accepts: boolean
  /** Reasons by EndToEndId. */
  readonly refusals: ReadonlyMap<string, string | undefined>
  readonly ispb: string
  readonly revision: Revision
  readonly now: () => Date
}

/**
 * Builds what this gateway answers of itself, on the channel that the message came by: one pacs.002 with RJCT for each
 * payment that a charge refuses, and with SPI_AUTO_ACCEPT one with ACSP for each other payment and return. A message
 * that nobody whom we trust has signed gets none, nor does a transaction without a proper id.
 */
export const repliesTo = (
  inbound: ReadInbound,
  context: ReplyContext,
): readonly OutboundMessage[] => {
  const { view, message } = inbound
  if (view === undefined || !isTrusted(message.signature)) return []
  const { type } = view.identity
  if (!isMessageType(type) || definitionOf(type).exchange.role !== 'moves_money') return []
  return view.transactions.flatMap((one) => replyTo(one, type, inbound, context))
}

const replyTo = (
  { endToEndId, instructionId }: TransactionView,
  type: string,
  { message: received, delivery }: ReadInbound,
  { ispb, revision, now, accepts, refusals }: ReplyContext,
): readonly OutboundMessage[] => {
  const instruction = type === 'pacs.004' ? instructionId : endToEndId
  const reason = type === 'pacs.008' ? refusals.get(endToEndId ?? '') : undefined
  if (reason === undefined && !accepts) return []
  const status = reason === undefined ? 'ACSP' : 'RJCT'
  const at = now()
  const build = buildMessage(
    'PACS002',
    {
      original_end_to_end_id: endToEndId,
      original_instruction_id: instruction,
      status,
      ...(reason === undefined ? {} : { reason }),
    },
    { ispb, nowMs: at.getTime(), random, revision },
  )
  if (!build.ok) return []
  const { message } = build
  return [
    {
      id: newUuid(at),
      type: message.type,
      definition: messageDefinitionIdOf(message),
      channel: received.channel ?? 'PRIMARY',
      sourceIspb: ispb,
      destinationIspb: spiIspb,
      bizMsgIdr: message.businessMessageId,
      transactions: [
        {
          endToEndId,
          instructionId: instruction,
          amountCents: undefined,
          debtorIspb: undefined,
          creditorIspb: undefined,
          status,
          reason,
        },
      ],
      envelope: message,
      traceparent: delivery.headers[traceHeader],
    },
  ]
}
