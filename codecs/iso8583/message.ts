import { CodecError } from '#codecs/bytes'
import type { Iso8583Packer } from './packer.ts'
import type { Iso8583Parser } from './parser.ts'

/** Message types that the gateway sends and receives; 1xxx are their 1993 forms. */
export const GATEWAY_MTIS = [
  '0100',
  '0110',
  '0200',
  '0210',
  '0400',
  '0401',
  '0410',
  '0800',
  '0810',
  '1100',
  '1110',
  '1200',
  '1210',
  '1420',
  '1421',
  '1430',
  '1804',
  '1814',
] as const
export type GatewayMti = (typeof GATEWAY_MTIS)[number]

const mtis: ReadonlyMap<number, GatewayMti> = new Map(GATEWAY_MTIS.map((mti) => [Number(mti), mti]))

type Slots = (string | Uint8Array | undefined)[]

/**
 * A message of the gateway, always of this shape; an absent field is `undefined`. PAN, tracks, PIN block
 * and MAC are bytes of their own, which `wipe` clears; the PAN's are ASCII digits in every dialect.
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
  additionalData: string | undefined = undefined
  /** DE 49 */
  currency: string | undefined = undefined
  /** DE 52 */
  pinBlock: Uint8Array | undefined = undefined
  /** DE 54 */
  additionalAmounts: string | undefined = undefined
  /** DE 55 */
  iccData: string | Uint8Array | undefined = undefined
  /** DE 64 */
  mac: Uint8Array | undefined = undefined
  /** DE 70 */
  networkCode: string | undefined = undefined
  /** DE 90 */
  originalData: string | undefined = undefined
  /** DE 95 */
  replacementAmounts: string | undefined = undefined

  /** Overwrites PAN, tracks and PIN block with zeros. */
  wipe(): void {
    this.pan?.fill(0)
    this.track2?.fill(0)
    this.track1?.fill(0)
    this.pinBlock?.fill(0)
  }
}

const highestOf = (message: CardMessage): number => {
  if (message.replacementAmounts !== undefined) return 95
  if (message.originalData !== undefined) return 90
  return message.networkCode === undefined ? 64 : 70
}

/** Packs typed messages; holds no reference to one after the call. */
export const createMessagePacker = (
  packer: Iso8583Packer,
): ((message: CardMessage, out: Uint8Array, start?: number) => number) => {
  const slots: Slots = new Array(193).fill(undefined)
  return (message, out, start = 0) => {
    slots[2] = message.pan
    slots[3] = message.processingCode
    slots[4] = message.amount
    slots[7] = message.transmissionDateTime
    slots[11] = message.stan
    slots[12] = message.localTime
    slots[13] = message.localDate
    slots[14] = message.expirationDate
    slots[15] = message.settlementDate
    slots[18] = message.merchantType
    slots[22] = message.entryMode
    slots[23] = message.cardSequence
    slots[24] = message.networkId
    slots[25] = message.conditionCode
    slots[32] = message.acquirerId
    slots[33] = message.forwarderId
    slots[35] = message.track2
    slots[37] = message.rrn
    slots[38] = message.authCode
    slots[39] = message.responseCode
    slots[41] = message.terminalId
    slots[42] = message.merchantId
    slots[43] = message.merchantName
    slots[45] = message.track1
    slots[48] = message.additionalData
    slots[49] = message.currency
    slots[52] = message.pinBlock
    slots[54] = message.additionalAmounts
    slots[55] = message.iccData
    slots[64] = message.mac
    slots[70] = message.networkCode
    slots[90] = message.originalData
    slots[95] = message.replacementAmounts
    try {
      return packer.packUpTo(highestOf(message), message.mti, slots, out, start)
    } finally {
      slots[2] = undefined
      slots[35] = undefined
      slots[45] = undefined
      slots[52] = undefined
    }
  }
}

/**
 * The message that `parser` holds, typed. Fields outside the shape stay with the parser.
 *
 * @throws CodecError `iso8583_mti_unsupported`
 */
export const readMessage = (parser: Iso8583Parser): CardMessage => {
  const mti = mtis.get(parser.mtiNumber)
  if (mti === undefined) {
    throw new CodecError('iso8583_mti_unsupported', 0, 'mti: not one of the gateway', {
      field: 'mti',
      rule: 'one of the message types of the gateway',
    })
  }
  const message = new CardMessage()
  message.mti = mti
  if (parser.has(2)) message.pan = parser.digits(2)
  if (parser.has(3)) message.processingCode = parser.text(3)
  if (parser.has(4)) message.amount = parser.text(4)
  if (parser.has(7)) message.transmissionDateTime = parser.text(7)
  if (parser.has(11)) message.stan = parser.text(11)
  if (parser.has(12)) message.localTime = parser.text(12)
  if (parser.has(13)) message.localDate = parser.text(13)
  if (parser.has(14)) message.expirationDate = parser.text(14)
  if (parser.has(15)) message.settlementDate = parser.text(15)
  if (parser.has(18)) message.merchantType = parser.text(18)
  if (parser.has(22)) message.entryMode = parser.text(22)
  if (parser.has(23)) message.cardSequence = parser.text(23)
  if (parser.has(24)) message.networkId = parser.text(24)
  if (parser.has(25)) message.conditionCode = parser.text(25)
  if (parser.has(32)) message.acquirerId = parser.text(32)
  if (parser.has(33)) message.forwarderId = parser.text(33)
  if (parser.has(35)) message.track2 = parser.digits(35)
  if (parser.has(37)) message.rrn = parser.text(37)
  if (parser.has(38)) message.authCode = parser.text(38)
  if (parser.has(39)) message.responseCode = parser.text(39)
  if (parser.has(41)) message.terminalId = parser.text(41)
  if (parser.has(42)) message.merchantId = parser.text(42)
  if (parser.has(43)) message.merchantName = parser.text(43)
  if (parser.has(45)) message.track1 = parser.digits(45)
  if (parser.has(48)) message.additionalData = parser.text(48)
  if (parser.has(49)) message.currency = parser.text(49)
  if (parser.has(52)) message.pinBlock = parser.digits(52)
  if (parser.has(54)) message.additionalAmounts = parser.text(54)
  if (parser.has(55)) message.iccData = parser.value(55)
  if (parser.has(64)) message.mac = parser.digits(64)
  if (parser.has(70)) message.networkCode = parser.text(70)
  if (parser.has(90)) message.originalData = parser.text(90)
  if (parser.has(95)) message.replacementAmounts = parser.text(95)
  return message
}
