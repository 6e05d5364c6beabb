/** Fills the array with cryptographic randomness. */
export type RandomSource = (bytes: Uint8Array) => void

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
/** Bytes from here on are drawn again, so that each of the 62 characters is as likely as another. */
const FAIR_BYTES = 248

/** `count` random letters and digits: 5.95 bits each. */
const randomText = (count: number, random: RandomSource): string => {
  const bytes = new Uint8Array(count + 8)
  let text = ''
  while (text.length < count) {
    random(bytes)
    for (let i = 0; i < bytes.length && text.length < count; i++) {
      const byte = bytes[i] as number
      if (byte < FAIR_BYTES) text += alphabet[byte % 62]
    }
  }
  return text
}

/** `YYYYMMDDhhmm` of the time in UTC. */
const minuteOf = (timeMs: number): string =>
  new Date(timeMs).toISOString().slice(0, 16).replace(/[-T:]/g, '')

/** BizMsgIdr and MsgId: `M`, the ISPB, and 23 random characters. */
export const messageId = (ispb: string, random: RandomSource): string =>
  `M${ispb}${randomText(23, random)}`

/** EndToEndId: `E`, the ISPB, the minute in UTC, and 11 random characters. */
export const endToEndId = (ispb: string, timeMs: number, random: RandomSource): string =>
  `E${ispb}${minuteOf(timeMs)}${randomText(11, random)}`

/** RtrId: `D`, the ISPB, the minute in UTC, and 11 random characters. */
export const returnId = (ispb: string, timeMs: number, random: RandomSource): string =>
  `D${ispb}${minuteOf(timeMs)}${randomText(11, random)}`

/** The SPI's date-time: UTC, three decimals, `Z`. */
export const dateTimeOf = (timeMs: number): string => new Date(timeMs).toISOString()
