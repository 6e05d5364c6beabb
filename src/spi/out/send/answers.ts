import type { BuildableMessage } from '#codecs/iso20022'
import type {
  Actor,
  AuditEntry,
  IdempotencyClaim,
  StoredResponse,
} from '#src/platform/http/index.ts'
import type { OutboundMessage } from '../../messages/index.ts'

/** A message ready to be stored, and what its sender is told of it. */
export type Built = {
  readonly messageType: BuildableMessage
  readonly endToEndIds: readonly string[]
  readonly message: OutboundMessage
}

/** Who wants a message sent, and under which Idempotency-Key. */
export type SenderOfRequest = {
  readonly claim: IdempotencyClaim | undefined
  readonly actor: Actor
}

export const auditEntry = ({ message }: Built, actor: Actor): AuditEntry => ({
  actor,
  action: 'spi.send',
  object: message.id,
  outcome: 'queued',
})

const answer = (built: Built, fields: Readonly<Record<string, string>>): StoredResponse => ({
  status: 202,
  contentType: 'application/json',
  body: JSON.stringify({
    id: built.message.id,
    biz_msg_idr: built.message.bizMsgIdr,
    message_type: built.messageType,
    ...fields,
    end_to_end_ids: built.endToEndIds,
  }),
})

/** It will be sent. */
export const queuedAnswer = (built: Built): StoredResponse => answer(built, { status: 'queued' })

/** The message interface has it, under that PI-ResourceId. */
export const sentAnswer = (built: Built, resourceId: string): StoredResponse =>
  answer(built, { status: 'sent', resource_id: resourceId })

export const knownAlready = ({ bizMsgIdr }: OutboundMessage): Error =>
  new Error(`BizMsgIdr ${bizMsgIdr} is known already`)
