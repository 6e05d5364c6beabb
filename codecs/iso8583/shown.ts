import { hidden, maskNumbers, maskPan, panDigitsMin } from './mask.ts'
import { byteMembers, type CardMessage, textMembers } from './message.ts'

const panField = '002'
/** DE 14: with the number it makes a payment. */
const expiryField = 14

/** Three digits: names that look like the index of an array would take the runtime's serializer off its fast way. */
const nameOf = (de: number | string): string => String(de).padStart(3, '0')

const texts = Object.entries(textMembers).map(
  ([de, member]) => [Number(de), nameOf(de), member] as const,
)
const bytes = Object.entries(byteMembers).map(([de, member]) => [nameOf(de), member] as const)

/**
 * The fields of a message as they may be stored and shown, by their numbers of three digits (`002`): of the card number BIN and last four digits
 * (PCI DSS 4.0.1, 3.4.1), its expiry, tracks, PIN block, chip data, codes and private fields as `***`. A run of digits
 * that may be a card number is masked in every other field; DE 90 and 95 are shown in their parts.
 *
 * @param secret fields that are `***`, too
 */
export const shownFields = (
  message: CardMessage,
  secret?: ReadonlySet<number>,
): Readonly<Record<string, string>> => {
  const shown: Record<string, string> = {}
  // By index: an iterator over so many pairs would take as long as everything else together.
  for (let at = 0; at < texts.length; at++) {
    const [de, name, member] = texts[at] as (typeof texts)[number]
    const value = message[member]
    if (value !== undefined) shown[name] = de === expiryField ? hidden : withoutNumbers(de, value)
  }
  for (let at = 0; at < bytes.length; at++) {
    const [de, member] = bytes[at] as (typeof bytes)[number]
    const value = message[member]
    if (value === undefined) continue
    shown[de] = de === panField ? maskPan(String.fromCharCode(...value)) : hidden
  }
  for (const de of message.more?.keys() ?? []) shown[nameOf(de)] = hidden
  for (const de of secret ?? []) if (nameOf(de) in shown) shown[nameOf(de)] = hidden
  return shown
}

const withoutNumbers = (de: number, value: string): string => {
  // No database stores a NUL in a text.
  const text = value.includes('\0') ? value.replaceAll('\0', '\ufffd') : value
  return text.length < panDigitsMin ? text : maskNumbers(de, text, '1987')
}
