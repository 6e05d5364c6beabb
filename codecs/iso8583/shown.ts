import { maskPan } from './mask.ts'
import { byteMembers, type CardMessage, textMembers } from './message.ts'

const hidden = '***'
const panField = '2'
/** DE 14: with the number it makes a payment. */
const expiryField = '14'
const cardNumberRun = /\d{13,19}/g
/** MTI, STAN, DE 7, acquirer and forwarder of another message. */
const originalData = /^(\d{4})(\d{6})(\d{10})(\d{11})(\d{11})$/

const texts = Object.entries(textMembers)
const bytes = Object.entries(byteMembers)

/**
 * The fields of a message as they may be stored and shown, by their numbers: of the card number BIN and last four digits
 * (PCI DSS 4.0.1, 3.4.1), its expiry, tracks, PIN block, chip data, codes and private fields as `***`. A run of digits
 * that may be a card number is masked in every other field; DE 90 is shown in its parts.
 */
export const shownFields = (message: CardMessage): Readonly<Record<string, string>> => {
  const shown: Record<string, string> = {}
  for (const [de, member] of texts) {
    const value = message[member]
    if (value !== undefined) shown[de] = de === expiryField ? hidden : withoutNumbers(de, value)
  }
  for (const [de, member] of bytes) {
    const value = message[member]
    if (value === undefined) continue
    shown[de] = de === panField ? maskPan(String.fromCharCode(...value)) : hidden
  }
  for (const de of message.more?.keys() ?? []) shown[de] = hidden
  return shown
}

const withoutNumbers = (de: string, value: string): string => {
  if (value.length < 13) return value
  const parted = de === '90' ? value.replace(originalData, '$1 $2 $3 $4 $5') : value
  return parted.replace(cardNumberRun, maskPan)
}
