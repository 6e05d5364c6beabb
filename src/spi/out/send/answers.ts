import type { BuildableMessage } from '#codecs/iso20022'
import { type Answer, type AuditEntry, actorOf, type Caller } from '#src/platform/http/index.ts'
import type { OutboundMessage } from '../../messages/index.ts'

/** A message ready to be stored, and what we tell its sender. */
export type Built = {
  readonly messageType: BuildableMessage
  readonly endToEndIds: readonly string[]
  readonly message: OutboundMessage
  /** What it was built of. */
  readonly params: unknown
}

export const auditEntry = ({ message }: Built, caller: Caller): AuditEntry => ({
  actor: actorOf(caller),
  action: 'spi.send',
  object: message.id,
  outcome: 'queued',
})

const answer = (built: Built, fields: Readonly<Record<string, string>>): Answer => ({
  status: 202,
  body: JSON.stringify({
    id: built.message.id,
    biz_msg_idr: built.message.bizMsgIdr,
    message_type: built.messageType,
    ...fields,
    end_to_end_ids: built.endToEndIds,
  }),
})

/** Tells the sender that we will send it. */
export const queuedAnswer = (built: Built): Answer => answer(built, { status: 'queued' })

/** Tells the sender that the message interface has it, under that PI-ResourceId. */
export const sentAnswer = (built: Built, resourceId: string): Answer =>
  answer(built, { status: 'sent', resource_id: resourceId })

export const knownAlready = ({ bizMsgIdr }: OutboundMessage): Error =>
  new Error(`BizMsgIdr ${bizMsgIdr} is known already`)
