import { createHmac } from 'node:crypto'
import { cidOf, type KeptEntry } from '#codecs/dict'

/** A payer confirms whom to pay within this time; then the key is looked up again. */
export const lookupMs = 15 * 60_000

export const hmac = (key: Uint8Array, message: Uint8Array): Uint8Array =>
  createHmac('sha256', key).update(message).digest()

/** By which a later answer is found to tell of the same owner and account. */
export const entryDigestOf = (entry: KeptEntry, salt: string): string =>
  cidOf(entry, Uint8Array.fromHex(salt), hmac)

/** By which a payment is found to be for the same key, by the same payer. */
export const askedDigestOf = (key: string, payer: string, salt: string): string =>
  createHmac('sha256', Buffer.from(salt, 'hex')).update(`${key} ${payer}`).digest('hex')
