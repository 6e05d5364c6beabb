/** Fills the array with cryptographic randomness. */
export type RandomSource = (bytes: Uint8Array) => void

/** Gives so many random letters and digits, never the same ones twice. */
export type RandomText = (count: number) => string

const alphabet = new TextEncoder().encode(
  '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz',
)
/** All pairs of them, as two bytes. */
const pairs = new Uint16Array(
  Uint8Array.from([...alphabet].flatMap((one) => [...alphabet].flatMap((two) => [one, two])))
    .buffer,
)
/** Numbers of two bytes from here on are drawn again, so that each pair is as likely as another. */
const FAIR_NUMBERS = 65_536 - (65_536 % pairs.length)
/** Randomness drawn at once: a call for each identifier costs more than the identifier. */
export const randomPoolBytes = 4096

const decoder = new TextDecoder()

/**
 * Random letters and digits of 5.95 bits each, from a pool that is drawn anew when it is used up. Each caller that
 * makes identifiers keeps one for as long as it lives.
 */
export const createRandomText = (random: RandomSource): RandomText => {
  const bytes = new Uint8Array(randomPoolBytes)
  const numbers = new Uint16Array(bytes.buffer)
  const draw = (): string => {
    random(bytes)
    let count = 0
    for (let i = 0; i < numbers.length; i++) {
      const number = numbers[i] as number
      if (number < FAIR_NUMBERS) numbers[count++] = pairs[number % pairs.length] as number
    }
    return decoder.decode(numbers.subarray(0, count))
  }
  let pool = ''
  let at = 0
  return (count) => {
    if (at + count > pool.length) {
      pool = pool.slice(at)
      while (pool.length < count) pool += draw()
      at = 0
    }
    at += count
    return pool.slice(at - count, at)
  }
}

const SECOND_MS = 1000
/** `000Z` to `999Z`. */
const fractions = Array.from({ length: SECOND_MS }, (_, i) => `${String(i).padStart(3, '0')}Z`)

/** Where the second last written begins: messages come many in one. */
let secondMs = Number.NaN
/** `YYYY-MM-DDThh:mm:ss.` and `YYYYMMDDhhmm` of it. */
let secondPrefix = ''
let minuteText = ''

const turnTo = (timeMs: number): void => {
  if (timeMs >= secondMs && timeMs < secondMs + SECOND_MS) return
  secondPrefix = new Date(timeMs).toISOString().slice(0, 20)
  minuteText = secondPrefix.slice(0, 16).replace(/[-T:]/g, '')
  secondMs = Math.floor(timeMs / SECOND_MS) * SECOND_MS
}

/** `YYYYMMDDhhmm` of the time in UTC. */
const minuteOf = (timeMs: number): string => {
  turnTo(timeMs)
  return minuteText
}

/** BizMsgIdr and MsgId: `M`, the ISPB, and 23 random characters. */
export const messageId = (ispb: string, random: RandomText): string => `M${ispb}${random(23)}`

/** EndToEndId: `E`, the ISPB, the minute in UTC, and 11 random characters. */
export const endToEndId = (ispb: string, timeMs: number, random: RandomText): string =>
  `E${ispb}${minuteOf(timeMs)}${random(11)}`

/** RtrId: `D`, the ISPB, the minute in UTC, and 11 random characters. */
export const returnId = (ispb: string, timeMs: number, random: RandomText): string =>
  `D${ispb}${minuteOf(timeMs)}${random(11)}`

/** The SPI's date-time: UTC, three decimals, `Z`. */
export const dateTimeOf = (timeMs: number): string => {
  turnTo(timeMs)
  return secondPrefix + fractions[Math.floor(timeMs - secondMs)]
}
