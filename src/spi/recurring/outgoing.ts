import {
  type BuildContext,
  buildMandateMessage,
  buildMessage,
  type MandateMessage,
  type Revision,
} from '#codecs/iso20022'
import type { Queryable } from '#src/platform/database/index.ts'
import { enqueueMessages, type OutboundMessage } from '../messages/index.ts'
import { outboundOf } from '../out/send/outbound.ts'
import { random } from '../random.ts'
import { canSend, type SendingParts } from '../sending.ts'

/** A message about a mandate or charge of a receiver, by the parameters of its builder. */
export type RecurringDraft =
  | { readonly type: MandateMessage; readonly params: object }
  | { readonly type: 'PAIN013' | 'CAMT055'; readonly params: object }

type RecurringContext = { readonly ispb: string; readonly revision: Revision; readonly now: Date }

/**
 * Values are judged where they come in: what was stored by earlier rules is still told.
 *
 * @throws Error if the codec refuses the parameters
 */
export const buildDraft = (
  draft: RecurringDraft,
  { ispb, revision, now }: RecurringContext,
): OutboundMessage => {
  const context = { ispb, nowMs: now.getTime(), random, revision }
  const build = builtOf(draft, context)
  if (build.ok) return outboundOf(build.message, { ispb, channel: 'PRIMARY' })
  const places = build.problems.map(({ pointer, rule }) => `${pointer} ${rule}`)
  throw new Error(`${draft.type} cannot be built: ${places.join(', ')}`)
}

const builtOf = (
  { type, params }: RecurringDraft,
  context: BuildContext & { readonly revision: Revision },
) =>
  type === 'PAIN013' || type === 'CAMT055'
    ? buildMessage(type, params, context)
    : buildMandateMessage(type, params, context)

/** Sends the messages of receivers' recurrences. */
export type RecurringSender = {
  readonly sendWithin: (tx: Queryable, drafts: readonly RecurringDraft[], at: Date) => Promise<void>
}

/** Undefined if this process cannot send. */
export const createRecurringSender = (parts: SendingParts): RecurringSender | undefined => {
  if (!canSend(parts)) return undefined
  const { ispb, broker, revision } = parts
  return {
    sendWithin: async (tx, drafts, now) => {
      const messages = drafts.map((draft) => buildDraft(draft, { ispb, revision, now }))
      await enqueueMessages(tx, broker, messages)
    },
  }
}
