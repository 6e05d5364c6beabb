import {
  type BuildableMessage,
  type BuildProblem,
  buildMessage,
  messageDefinitionIdOf,
  messageVocabulary,
  type Revision,
  spiIspb,
} from '#codecs/iso20022'
import { createXmlScanner } from '#codecs/xml'
import { type TransactionalBroker, topics } from '#src/platform/broker/index.ts'
import type { Client } from '#src/platform/database/index.ts'
import { type IdempotencyClaim, runOnce } from '#src/platform/idempotency/index.ts'
import { type Channel, enqueueMessages, type OutboundMessage } from '../messages/index.ts'
import { nativeText } from '../native-text.ts'
import { viewMessage } from '../view/index.ts'
import { channelOf } from './domain.ts'

export type SendRequest = {
  readonly messageType: BuildableMessage
  /** Chosen by the message's priority when undefined. */
  readonly channel: Channel | undefined
  readonly params: unknown
}

export type SendOutcome =
  | { readonly ok: true; readonly response: Response }
  | { readonly ok: false; readonly problems: readonly BuildProblem[] }

export type SendDeps = {
  readonly sql: Client
  readonly broker: TransactionalBroker
  readonly ispb: string
  readonly revision: Revision
}

export type SendService = (
  request: SendRequest,
  claim: IdempotencyClaim | undefined,
) => Promise<SendOutcome>

/** A document is read whole before the next is scanned. */
const scanner = createXmlScanner({
  vocabulary: messageVocabulary,
  native: nativeText,
  reuse: true,
})

/**
 * Builds a message and stores and queues it with the answer of its Idempotency-Key, all in one transaction: a
 * repetition under the key gets the first answer, never a second message.
 */
export const createSendService =
  ({ sql, broker, ispb, revision }: SendDeps): SendService =>
  async (request, claim) => {
    const { messageType, params } = request
    const build = buildMessage(messageType, params, {
      ispb,
      nowMs: Date.now(),
      random: (bytes: Uint8Array) => crypto.getRandomValues(bytes),
      revision,
    })
    if (!build.ok) return build
    const { message } = build
    const id = Bun.randomUUIDv7()
    const outbound: OutboundMessage = {
      id,
      type: message.type,
      definition: messageDefinitionIdOf(message),
      channel: request.channel ?? channelOf(messageType, params),
      sourceIspb: ispb,
      destinationIspb: spiIspb,
      bizMsgIdr: message.businessMessageId,
      transactions: transactionsOf(message.bytes),
      envelope: message,
    }
    const body = JSON.stringify({
      id,
      biz_msg_idr: message.businessMessageId,
      message_type: messageType,
      status: 'queued',
      end_to_end_ids: message.endToEndIds,
    })
    const response = await runOnce(sql, claim, async (transaction) => {
      const queued = await enqueueMessages(transaction, broker, [outbound])
      if (!queued.has(id))
        throw new Error(`BizMsgIdr ${message.businessMessageId} is known already`)
      return { status: 202, contentType: 'application/json', body }
    })
    broker.wake([topics.outbound])
    return { ok: true, response }
  }

const transactionsOf = (bytes: Uint8Array): OutboundMessage['transactions'] => {
  const view = viewMessage(scanner.scan(bytes))
  if (view === undefined) throw new Error('a built message cannot be read')
  return view.transactions.map(
    ({ endToEndId, instructionId, amountCents, debtorIspb, creditorIspb, status }) => ({
      endToEndId,
      instructionId,
      amountCents,
      debtorIspb,
      creditorIspb,
      status,
    }),
  )
}
