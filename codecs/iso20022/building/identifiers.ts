/** Fills the array with cryptographic randomness. */
export type RandomSource = (bytes: Uint8Array) => void

/** Gives `count` random letters and digits, new ones at each call. */
export type RandomText = (count: number) => string

const alphabet = new TextEncoder().encode(
  '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz',
)
const pairs = alphabet.length * alphabet.length
/** Numbers of two bytes from here on are drawn again, so that all pairs are equally likely. */
const fairNumbers = 65_536 - (65_536 % pairs)
/** Randomness drawn at once: a call for each identifier costs more than the identifier. */
export const randomPoolBytes = 4096

/**
 * Makes random letters and digits of 5.95 bits each, from a pool that is refilled when it is used up. Each caller keeps
 * one for as long as it lives.
 *
 * @example createRandomText((bytes) => crypto.getRandomValues(bytes))(11) // 'aB3dE5gH7jK'
 */
export const createRandomText = (random: RandomSource): RandomText => {
  const bytes = new Uint8Array(randomPoolBytes)
  const numbers = new Uint16Array(bytes.buffer)
  const decoder = new TextDecoder()
  let pool = ''
  let at = 0
  const draw = (): void => {
    random(bytes)
    let length = 0
    // A pair is written over its own number, or over an earlier one.
    for (let i = 0; i < numbers.length; i++) {
      const number = numbers[i] as number
      if (number >= fairNumbers) continue
      const pair = number % pairs
      bytes[length++] = alphabet[Math.floor(pair / alphabet.length)] as number
      bytes[length++] = alphabet[pair % alphabet.length] as number
    }
    pool = decoder.decode(bytes.subarray(0, length))
    at = 0
  }
  return (count) => {
    while (at + count > pool.length) draw()
    at += count
    return pool.slice(at - count, at)
  }
}

/** The SPI's date-time: UTC, three decimals, `Z`. */
export const dateTimeOf = (timeMs: number): string => new Date(timeMs).toISOString()

/** The institution that an identifier names, the time, and the source of its random part. */
type Origin = { readonly ispb: string; readonly created: string; readonly random: RandomText }

/** BizMsgIdr and MsgId: `M`, the ISPB, and 23 random characters. */
export const messageId = ({ ispb, random }: Pick<Origin, 'ispb' | 'random'>): string =>
  `M${ispb}${random(23)}`

/** A letter, the ISPB, the minute in UTC as `YYYYMMDDhhmm`, and 11 random characters. */
const operationId = (letter: string, { ispb, created, random }: Origin): string => {
  const date = created.slice(0, 4) + created.slice(5, 7) + created.slice(8, 10)
  return `${letter}${ispb}${date}${created.slice(11, 13)}${created.slice(14, 16)}${random(11)}`
}

/** Makes the EndToEndId of a payment. */
export const endToEndId = (origin: Origin): string => operationId('E', origin)

/** RtrId of a return. */
export const returnId = (origin: Origin): string => operationId('D', origin)
