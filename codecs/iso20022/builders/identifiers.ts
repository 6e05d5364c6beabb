import {
  createdValue,
  keep,
  lengthOf,
  messageIdValue,
  roomFor,
  startOf,
  type Value,
  valueView,
  writeAscii,
} from './values.ts'
import { wordBytes } from './words.ts'

/** Fills the array with cryptographic randomness. */
export type RandomSource = (bytes: Uint8Array) => void

/** Random letters and digits, of which none is used twice. */
export type RandomText = {
  /** Longer by a word than what stands in it. */
  readonly view: DataView
  /** Where in `view` so many of them stand, until the next are taken. */
  readonly take: (count: number) => number
}

const alphabet = new TextEncoder().encode(
  '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz',
)
/** All pairs of them, as two bytes. */
const pairs = new Uint16Array(
  Uint8Array.from([...alphabet].flatMap((one) => [...alphabet].flatMap((two) => [one, two])))
    .buffer,
)
/** Numbers of two bytes from here on are drawn again, so that each pair is as likely as another. */
const fairNumbers = 65_536 - (65_536 % pairs.length)
/** Randomness drawn at once: a call for each identifier costs more than the identifier. */
export const randomPoolBytes = 4096

/**
 * Random letters and digits of 5.95 bits each, from a pool that is drawn anew when it is used up. Each caller that
 * makes identifiers keeps one for as long as it lives.
 */
export const createRandomText = (random: RandomSource): RandomText => {
  const { buffer } = new Uint8Array(randomPoolBytes + wordBytes)
  const bytes = new Uint8Array(buffer, 0, randomPoolBytes)
  const numbers = new Uint16Array(buffer, 0, randomPoolBytes / 2)
  let at = 0
  let end = 0
  const draw = (): void => {
    random(bytes)
    let count = 0
    for (let i = 0; i < numbers.length; i++) {
      const number = numbers[i] as number
      if (number < fairNumbers) numbers[count++] = pairs[number % pairs.length] as number
    }
    // A word is read past the end.
    numbers.fill(0, count)
    at = 0
    end = 2 * count
  }
  const take = (count: number): number => {
    while (at + count > end) draw()
    at += count
    return at - count
  }
  return { view: new DataView(buffer), take }
}

const msOfSecond = 1000
/** `000Z` to `999Z`. */
const fractions = Array.from({ length: msOfSecond }, (_, i) => `${String(i).padStart(3, '0')}Z`)

/** Where the second last written begins: messages come many in one. */
let secondMs = Number.NaN
/** `YYYY-MM-DDThh:mm:ss.` and `YYYYMMDDhhmm` of it. */
let secondPrefix = ''
let minuteText = ''

const turnTo = (timeMs: number): void => {
  if (timeMs >= secondMs && timeMs < secondMs + msOfSecond) return
  secondPrefix = new Date(timeMs).toISOString().slice(0, 20)
  minuteText = secondPrefix.slice(0, 16).replace(/[-T:]/g, '')
  secondMs = Math.floor(timeMs / msOfSecond) * msOfSecond
}

/** `YYYYMMDDhhmm` of the time in UTC. */
const minuteOf = (timeMs: number): string => {
  turnTo(timeMs)
  return minuteText
}

/** The SPI's date-time: UTC, three decimals, `Z`. */
export const dateTimeOf = (timeMs: number): string => {
  turnTo(timeMs)
  return secondPrefix + fractions[Math.floor(timeMs - secondMs)]
}

let createdMs = Number.NaN
let createdText = ''

/** Makes {@link createdValue} a time; as {@link dateTimeOf}. */
export const writeCreated = (timeMs: number): string => {
  if (timeMs !== createdMs) {
    createdMs = timeMs
    createdText = dateTimeOf(timeMs)
    writeAscii(createdText, startOf(createdValue))
  }
  return createdText
}

const letterBytes = 1
const ispbBytes = 8
const minuteBytes = 12
const messageIdRandom = 23
const operationIdRandom = 11
const operationIdBytes = letterBytes + ispbBytes + minuteBytes + operationIdRandom

const writeRandom = ({ view, take }: RandomText, count: number, at: number): void => {
  const from = take(count)
  for (let i = 0; i < count; i += wordBytes) {
    valueView.setFloat64(at + i, view.getFloat64(from + i, true), true)
  }
}

const writeMessageId = (ispb: string, random: RandomText, at: number): void => {
  writeAscii('M', at)
  writeAscii(ispb, at + letterBytes)
  writeRandom(random, messageIdRandom, at + letterBytes + ispbBytes)
}

/** Makes {@link messageIdValue} a new one (BizMsgIdr and MsgId): `M`, the ISPB, and 23 random characters. */
export const drawMessageId = (ispb: string, random: RandomText): void =>
  writeMessageId(ispb, random, startOf(messageIdValue))

/** Another one, within a message. */
export const messageId = (ispb: string, random: RandomText): Value => {
  const length = lengthOf(messageIdValue)
  const from = roomFor(length)
  writeMessageId(ispb, random, from)
  return keep(from, from + length)
}

const operationId = (letter: string, ispb: string, timeMs: number, random: RandomText): Value => {
  const from = roomFor(operationIdBytes)
  writeAscii(letter, from)
  writeAscii(ispb, from + letterBytes)
  writeAscii(minuteOf(timeMs), from + letterBytes + ispbBytes)
  writeRandom(random, operationIdRandom, from + letterBytes + ispbBytes + minuteBytes)
  return keep(from, from + operationIdBytes)
}

/** EndToEndId: `E`, the ISPB, the minute in UTC, and 11 random characters. */
export const endToEndId = (ispb: string, timeMs: number, random: RandomText): Value =>
  operationId('E', ispb, timeMs, random)

/** RtrId: `D`, the ISPB, the minute in UTC, and 11 random characters. */
export const returnId = (ispb: string, timeMs: number, random: RandomText): Value =>
  operationId('D', ispb, timeMs, random)
