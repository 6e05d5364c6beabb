import { type GatewayMti, gatewayMtis } from '#codecs/iso8583'
import { findSensitive } from '#src/platform/security/index.ts'

/**
 * Gives one number for request, repeat and answer of an exchange: folds the function digit to the request's and the
 * origin digit to the first sending's, so that 0400, 0401 and 0410 are equal.
 */
const foldMti = (mti: GatewayMti): number => {
  const digit = (at: number): number => mti.charCodeAt(at) - 0x30
  return digit(0) * 1000 + digit(1) * 100 + (digit(2) & ~1) * 10 + (digit(3) & ~1)
}

const foldedMtis: ReadonlyMap<GatewayMti, number> = new Map(
  gatewayMtis.map((mti) => [mti, foldMti(mti)]),
)

const stans = 1_000_000

/** Whether a key is of network management: sign-on, echo and the like. */
export const isManagementKey = (key: number): boolean => Math.floor(key / (100 * stans)) % 10 === 8

/** The folded types that share one numbering of STANs; network management has its own. */
const transactionMtis: readonly number[] = [...new Set(foldedMtis.values())].filter(
  (folded) => !isManagementKey(folded * stans),
)

/** Six digits as a number; -1 for anything else. */
export const stanNumber = (stan: string | undefined): number => {
  if (stan?.length !== 6) return -1
  let number = 0
  for (let at = 0; at < 6; at++) {
    const digit = stan.charCodeAt(at) - 0x30
    if (digit < 0 || digit > 9) return -1
    number = number * 10 + digit
  }
  return number
}

/** One number that request and answer share; -1 without a STAN. */
export const exchangeKey = (mti: GatewayMti, stan: string | undefined): number => {
  const number = stanNumber(stan)
  return number < 0 ? -1 : (foldedMtis.get(mti) ?? 0) * stans + number
}

/** The keys of all transaction messages with this STAN. */
export const someTransactionKey = (stan: string, test: (key: number) => boolean): boolean => {
  const number = stanNumber(stan)
  return number >= 0 && transactionMtis.some((folded) => test(folded * stans + number))
}

/** 0110, 0210, 0230, 0330, 0410, 0430, 0630, 0810. */
export const isAnswer = (mti: GatewayMti): boolean => (mti.charCodeAt(2) & 1) === 1

/** Drawn by each process, so that a digest says nothing outside of it. */
const digestSeed = crypto.getRandomValues(new BigUint64Array(1))[0] ?? 0n

/** Tells whether two card numbers are the same when one of them is wiped already; never stored, logged or sent. */
export const cardDigest = (pan: Uint8Array | undefined): bigint | undefined =>
  pan === undefined ? undefined : Bun.hash.wyhash(pan, digestSeed)

/**
 * Looks for the card number of a request in what is read later, when the number itself is wiped. Where the request has
 * none, anything that looks like one is found.
 */
export const numberFinder = (pan: Uint8Array | undefined): ((text: string) => boolean) => {
  if (pan === undefined) return (text) => findSensitive(text) === 'card number'
  const { length } = pan
  const digest = cardDigest(pan)
  return (text) => {
    const digits = Buffer.from(text.replaceAll(/\D/g, ''))
    for (let from = 0; from + length <= digits.length; from++) {
      if (cardDigest(digits.subarray(from, from + length)) === digest) return true
    }
    return false
  }
}

/** Equal except for blanks that fill a fixed field; a side without the field agrees. */
export const agrees = (left: string | undefined, right: string | undefined): boolean => {
  if (left === undefined || right === undefined) return true
  let leftEnd = left.length
  let rightEnd = right.length
  while (leftEnd > 0 && left.charCodeAt(leftEnd - 1) === 0x20) leftEnd--
  while (rightEnd > 0 && right.charCodeAt(rightEnd - 1) === 0x20) rightEnd--
  if (leftEnd !== rightEnd) return false
  for (let at = 0; at < leftEnd; at++) {
    if (left.charCodeAt(at) !== right.charCodeAt(at)) return false
  }
  return true
}
