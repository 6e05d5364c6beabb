import { CodecError } from '#codecs/bytes'
import { secretFields } from './layout.ts'
import type { FieldValue, Iso8583Packer } from './packer.ts'
import type { Iso8583Parser } from './parser.ts'

/** Message types that the gateway sends and receives, of version 1987. */
export const gatewayMtis = [
  ...(['0100', '0110', '0120', '0121', '0130'] as const),
  ...(['0200', '0210', '0220', '0221', '0230', '0800', '0810'] as const),
  ...(['0320', '0321', '0330'] as const),
  ...(['0400', '0401', '0410', '0420', '0421', '0430'] as const),
  ...(['0500', '0501', '0510', '0520', '0521', '0530'] as const),
  ...(['0620', '0621', '0630'] as const),
] as const
export type GatewayMti = (typeof gatewayMtis)[number]

/** By number. */
const mtis: (GatewayMti | undefined)[] = new Array(10_000).fill(undefined)
for (const mti of gatewayMtis) mtis[Number(mti)] = mti

/**
 * A message of the gateway, always of this shape; an absent field is `undefined`. PAN, tracks, PIN block
 * and MAC are separate bytes, which `wipe` clears; the PAN's are ASCII digits in every dialect.
 */
export class CardMessage {
  mti: GatewayMti = '0100'
  /** DE 2 */
  pan: Uint8Array | undefined = undefined
  /** DE 3 */
  processingCode: string | undefined = undefined
  /** DE 4 */
  amount: string | undefined = undefined
  /** DE 7 */
  transmissionDateTime: string | undefined = undefined
  /** DE 11 */
  stan: string | undefined = undefined
  /** DE 12 */
  localTime: string | undefined = undefined
  /** DE 13 */
  localDate: string | undefined = undefined
  /** DE 14 */
  expirationDate: string | undefined = undefined
  /** DE 15 */
  settlementDate: string | undefined = undefined
  /** DE 18 */
  merchantType: string | undefined = undefined
  /** DE 22 */
  entryMode: string | undefined = undefined
  /** DE 23 */
  cardSequence: string | undefined = undefined
  /** DE 24 */
  networkId: string | undefined = undefined
  /** DE 25 */
  conditionCode: string | undefined = undefined
  /** DE 32 */
  acquirerId: string | undefined = undefined
  /** DE 33 */
  forwarderId: string | undefined = undefined
  /** DE 35 */
  track2: Uint8Array | undefined = undefined
  /** DE 37 */
  rrn: string | undefined = undefined
  /** DE 38 */
  authCode: string | undefined = undefined
  /** DE 39 */
  responseCode: string | undefined = undefined
  /** DE 41 */
  terminalId: string | undefined = undefined
  /** DE 42 */
  merchantId: string | undefined = undefined
  /** DE 43 */
  merchantName: string | undefined = undefined
  /** DE 45 */
  track1: Uint8Array | undefined = undefined
  /** DE 48 */
  additionalData: Uint8Array | undefined = undefined
  /** DE 49 */
  currency: string | undefined = undefined
  /** DE 52 */
  pinBlock: Uint8Array | undefined = undefined
  /** DE 54 */
  additionalAmounts: string | undefined = undefined
  /** DE 55 */
  iccData: Uint8Array | undefined = undefined
  /** DE 64 */
  mac: Uint8Array | undefined = undefined
  /** DE 67 */
  extendedPayment: string | undefined = undefined
  /** DE 70 */
  networkCode: string | undefined = undefined
  /** DE 90 */
  originalData: string | undefined = undefined
  /** DE 95 */
  replacementAmounts: string | undefined = undefined
  /** All other fields, by number; undefined if there are none. */
  more: Map<number, FieldValue> | undefined = undefined

  /** Overwrites all fields held as bytes with zeros. */
  wipe(): void {
    this.pan?.fill(0)
    this.track2?.fill(0)
    this.track1?.fill(0)
    this.additionalData?.fill(0)
    this.pinBlock?.fill(0)
    this.iccData?.fill(0)
    if (this.more === undefined) return
    for (const value of this.more.values()) if (typeof value !== 'string') value.fill(0)
  }
}

/** The members that hold bytes. */
type ByteMember = 'pan' | 'track2' | 'track1' | 'additionalData' | 'pinBlock' | 'iccData' | 'mac'
type TextMember = Exclude<keyof CardMessage, ByteMember | 'mti' | 'more' | 'wipe'>

export const textMembers: Readonly<Record<number, TextMember>> = {
  3: 'processingCode',
  4: 'amount',
  7: 'transmissionDateTime',
  11: 'stan',
  12: 'localTime',
  13: 'localDate',
  14: 'expirationDate',
  15: 'settlementDate',
  18: 'merchantType',
  22: 'entryMode',
  23: 'cardSequence',
  24: 'networkId',
  25: 'conditionCode',
  32: 'acquirerId',
  33: 'forwarderId',
  37: 'rrn',
  38: 'authCode',
  39: 'responseCode',
  41: 'terminalId',
  42: 'merchantId',
  43: 'merchantName',
  49: 'currency',
  54: 'additionalAmounts',
  67: 'extendedPayment',
  70: 'networkCode',
  90: 'originalData',
  95: 'replacementAmounts',
}
export const byteMembers: Readonly<Record<number, ByteMember>> = {
  2: 'pan',
  35: 'track2',
  45: 'track1',
  48: 'additionalData',
  52: 'pinBlock',
  55: 'iccData',
  64: 'mac',
}
const memberFields: ReadonlySet<number> = new Set(
  [...Object.keys(textMembers), ...Object.keys(byteMembers)].map(Number),
)

const asBytes = (text: string): Uint8Array =>
  Uint8Array.from({ length: text.length }, (_, at) => text.charCodeAt(at))

/**
 * Compiles a setter of one field, whichever member of a {@link CardMessage} it is. The message holds given bytes
 * themselves, no copy of them.
 */
export const createFieldSetter = (
  de: number,
): ((message: CardMessage, value: FieldValue) => void) => {
  const text = textMembers[de]
  if (text !== undefined) {
    return (message, value) => {
      message[text] = typeof value === 'string' ? value : String.fromCharCode(...value)
    }
  }
  const bytes = byteMembers[de]
  if (bytes !== undefined) {
    return (message, value) => {
      message[bytes] = typeof value === 'string' ? asBytes(value) : value
    }
  }
  return (message, value) => {
    message.more ??= new Map()
    message.more.set(de, value)
  }
}

/** Compiles a reader of one field, whichever member of a {@link CardMessage} it is; bytes are those of the message. */
export const createFieldGetter = (
  de: number,
): ((message: CardMessage) => FieldValue | undefined) => {
  const member = textMembers[de] ?? byteMembers[de]
  return member === undefined ? ({ more }) => more?.get(de) : (message) => message[member]
}

/** Packs a message that has fields without a member. */
const packAll = (
  packer: Iso8583Packer,
  message: CardMessage,
  more: ReadonlyMap<number, FieldValue>,
  out: Uint8Array,
  start: number,
): number => {
  const values: Record<number, FieldValue | undefined> = Object.fromEntries(more)
  for (const [de, member] of Object.entries(textMembers)) values[Number(de)] = message[member]
  for (const [de, member] of Object.entries(byteMembers)) values[Number(de)] = message[member]
  return packer.pack(message.mti, values, out, start)
}

/** DE 64, or 128 where fields above 64 are there: a message authentication code is the last field of a message. */
export const macFieldOf = (message: CardMessage): 64 | 128 => {
  const isHigh = message.more !== undefined && [...message.more.keys()].some((de) => de > 64)
  return isHigh || highestOf(message) > 64 ? 128 : 64
}

const highestOf = (message: CardMessage): number => {
  if (message.replacementAmounts !== undefined) return 95
  if (message.originalData !== undefined) return 90
  if (message.networkCode !== undefined) return 70
  return message.extendedPayment === undefined ? 64 : 67
}

/** Packs typed messages; holds no reference to one after the call. */
export const createMessagePacker =
  (packer: Iso8583Packer): ((message: CardMessage, out: Uint8Array, start?: number) => number) =>
  (message, out, start = 0) => {
    if (message.more !== undefined) return packAll(packer, message, message.more, out, start)
    let at = packer.begin(message.mti, highestOf(message), out, start)
    if (message.pan !== undefined) at = packer.put(2, message.pan, out, at)
    if (message.processingCode !== undefined) at = packer.put(3, message.processingCode, out, at)
    if (message.amount !== undefined) at = packer.put(4, message.amount, out, at)
    if (message.transmissionDateTime !== undefined)
      at = packer.put(7, message.transmissionDateTime, out, at)
    if (message.stan !== undefined) at = packer.put(11, message.stan, out, at)
    if (message.localTime !== undefined) at = packer.put(12, message.localTime, out, at)
    if (message.localDate !== undefined) at = packer.put(13, message.localDate, out, at)
    if (message.expirationDate !== undefined) at = packer.put(14, message.expirationDate, out, at)
    if (message.settlementDate !== undefined) at = packer.put(15, message.settlementDate, out, at)
    if (message.merchantType !== undefined) at = packer.put(18, message.merchantType, out, at)
    if (message.entryMode !== undefined) at = packer.put(22, message.entryMode, out, at)
    if (message.cardSequence !== undefined) at = packer.put(23, message.cardSequence, out, at)
    if (message.networkId !== undefined) at = packer.put(24, message.networkId, out, at)
    if (message.conditionCode !== undefined) at = packer.put(25, message.conditionCode, out, at)
    if (message.acquirerId !== undefined) at = packer.put(32, message.acquirerId, out, at)
    if (message.forwarderId !== undefined) at = packer.put(33, message.forwarderId, out, at)
    if (message.track2 !== undefined) at = packer.put(35, message.track2, out, at)
    if (message.rrn !== undefined) at = packer.put(37, message.rrn, out, at)
    if (message.authCode !== undefined) at = packer.put(38, message.authCode, out, at)
    if (message.responseCode !== undefined) at = packer.put(39, message.responseCode, out, at)
    if (message.terminalId !== undefined) at = packer.put(41, message.terminalId, out, at)
    if (message.merchantId !== undefined) at = packer.put(42, message.merchantId, out, at)
    if (message.merchantName !== undefined) at = packer.put(43, message.merchantName, out, at)
    if (message.track1 !== undefined) at = packer.put(45, message.track1, out, at)
    if (message.additionalData !== undefined) at = packer.put(48, message.additionalData, out, at)
    if (message.currency !== undefined) at = packer.put(49, message.currency, out, at)
    if (message.pinBlock !== undefined) at = packer.put(52, message.pinBlock, out, at)
    if (message.additionalAmounts !== undefined)
      at = packer.put(54, message.additionalAmounts, out, at)
    if (message.iccData !== undefined) at = packer.put(55, message.iccData, out, at)
    if (message.mac !== undefined) at = packer.put(64, message.mac, out, at)
    if (message.extendedPayment !== undefined) at = packer.put(67, message.extendedPayment, out, at)
    if (message.networkCode !== undefined) at = packer.put(70, message.networkCode, out, at)
    if (message.originalData !== undefined) at = packer.put(90, message.originalData, out, at)
    if (message.replacementAmounts !== undefined)
      at = packer.put(95, message.replacementAmounts, out, at)
    packer.finish(out)
    return at
  }

const begun = (parser: Iso8583Parser): CardMessage => {
  const mti = mtis[parser.mtiNumber]
  if (mti === undefined) {
    throw new CodecError('iso8583_mti_unsupported', 0, 'mti: not one of the gateway', {
      field: 'mti',
      rule: 'one of the message types of the gateway',
    })
  }
  const message = new CardMessage()
  message.mti = mti
  return message
}

/**
 * Reads what a gateway needs from an answer: amount, STAN, RRN, codes, terminal and currency. It decodes nothing else,
 * so it copies no card number or other secret.
 *
 * @throws CodecError `iso8583_mti_unsupported`
 */
export const readAnswer = (parser: Iso8583Parser): CardMessage => {
  const message = begun(parser)
  message.amount = parser.text(4)
  message.stan = parser.text(11)
  message.rrn = parser.text(37)
  message.authCode = parser.text(38)
  message.responseCode = parser.text(39)
  message.terminalId = parser.text(41)
  message.currency = parser.text(49)
  message.networkCode = parser.text(70)
  return message
}

/**
 * Reads all fields of a message.
 *
 * @throws CodecError `iso8583_mti_unsupported`
 */
export const readMessage = (parser: Iso8583Parser): CardMessage => {
  const message = begun(parser)
  message.pan = parser.copy(2)
  message.processingCode = parser.text(3)
  message.amount = parser.text(4)
  message.transmissionDateTime = parser.text(7)
  message.stan = parser.text(11)
  message.localTime = parser.text(12)
  message.localDate = parser.text(13)
  message.expirationDate = parser.text(14)
  message.settlementDate = parser.text(15)
  message.merchantType = parser.text(18)
  message.entryMode = parser.text(22)
  message.cardSequence = parser.text(23)
  message.networkId = parser.text(24)
  message.conditionCode = parser.text(25)
  message.acquirerId = parser.text(32)
  message.forwarderId = parser.text(33)
  message.track2 = parser.copy(35)
  message.rrn = parser.text(37)
  message.authCode = parser.text(38)
  message.responseCode = parser.text(39)
  message.terminalId = parser.text(41)
  message.merchantId = parser.text(42)
  message.merchantName = parser.text(43)
  message.track1 = parser.copy(45)
  message.additionalData = parser.copy(48)
  message.currency = parser.text(49)
  message.pinBlock = parser.copy(52)
  message.additionalAmounts = parser.text(54)
  message.iccData = parser.copy(55)
  message.mac = parser.copy(64)
  message.extendedPayment = parser.text(67)
  message.networkCode = parser.text(70)
  message.originalData = parser.text(90)
  message.replacementAmounts = parser.text(95)
  for (const de of parser.fields()) {
    if (memberFields.has(de)) continue
    // Text could not be wiped.
    const value = secretFields.includes(de) ? parser.copy(de) : parser.value(de)
    message.more ??= new Map()
    if (value !== undefined) message.more.set(de, value)
  }
  return message
}
