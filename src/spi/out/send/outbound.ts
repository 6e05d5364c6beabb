import { type Build, createMessageScanner, messageDefinitionIdOf, spiIspb } from '#codecs/iso20022'
import { currentTraceparent } from '#src/platform/observe/index.ts'
import { nativeText, newUuid } from '#src/platform/runtime/index.ts'
import type { Channel, OutboundMessage } from '../../messages/index.ts'
import { viewMessage } from '../../messages/view.ts'

/** We read one document completely before we scan the next. */
const scanner = createMessageScanner(nativeText)

type BuiltSuccess = Extract<Build, { readonly ok: true }>['message']

/** A built message as it is stored and queued, with the transactions that it holds. */
export const outboundOf = (
  message: BuiltSuccess,
  {
    ispb,
    channel,
    isScheduled = false,
  }: { readonly ispb: string; readonly channel: Channel; readonly isScheduled?: boolean },
): OutboundMessage => ({
  id: newUuid(),
  type: message.type,
  definition: messageDefinitionIdOf(message),
  channel,
  sourceIspb: ispb,
  destinationIspb: spiIspb,
  bizMsgIdr: message.businessMessageId,
  transactions: transactionsOf(message.bytes),
  traceparent: currentTraceparent(),
  ...(isScheduled ? { isScheduled } : {}),
  envelope: message,
})

const transactionsOf = (bytes: Uint8Array): OutboundMessage['transactions'] => {
  const view = viewMessage(scanner.scan(bytes))
  if (view === undefined) throw new Error('a built message cannot be read')
  return view.transactions
}
