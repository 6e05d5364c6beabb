import { type CardMessage, shownFields } from '#codecs/iso8583'
import type { ShownMessage } from '../transactions/schema.ts'

/** A message as it may be stored: before it is wiped. */
export const shownMessage = (message: CardMessage): ShownMessage => ({
  mti: message.mti,
  fields: shownFields(message),
})
