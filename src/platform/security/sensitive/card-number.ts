/** ISO/IEC 7812-1 allows 10 to 19 digits; no issuer gives less than 13. */
const digitsMin = 13
const digitsMax = 19

/** First four digits and the lengths of the numbers that begin with them. */
type IssuerRange = readonly [from: number, to: number, digitsMin: number, digitsMax: number]

/** The ranges of issuers' numbers, in order. They are wider than today's, because the ranges of a scheme grow. */
const issuerRanges: readonly IssuerRange[] = [
  [2200, 2205, 16, 19], // Mir
  [2221, 2720, 16, 16], // Mastercard
  [3000, 3099, 14, 19], // Diners Club
  [3400, 3499, 15, 15], // American Express
  [3528, 3589, 16, 19], // JCB
  [3600, 3699, 14, 19], // Diners Club
  [3700, 3799, 15, 15], // American Express
  [3800, 3999, 13, 19], // Diners Club, Hipercard
  [4000, 4999, 13, 19], // Visa, Elo
  [5000, 5099, 13, 19], // Maestro, Elo, Aura, Verve
  [5100, 5599, 16, 16], // Mastercard
  [5600, 5899, 13, 19], // Maestro, Cabal
  [6000, 6999, 13, 19], // Maestro, Discover, UnionPay, Elo, Hipercard, RuPay
  [8100, 8299, 16, 19], // UnionPay, RuPay
  [9792, 9792, 16, 16], // Troy
]

/** Bit n of entry d: a card number that begins with the four digits d may have n digits. */
const lengthsByStart: Uint32Array = ((): Uint32Array => {
  const lengths = new Uint32Array(10_000)
  for (const [from, to, min, max] of issuerRanges) {
    for (let start = from; start <= to; start++) {
      for (let length = min; length <= max; length++) lengths[start]! |= 1 << length
    }
  }
  return lengths
})()

const doubled = (digit: number): number => (digit > 4 ? digit * 2 - 9 : digit * 2)

/**
 * The sum of ISO/IEC 7812-1 annex B, which is a multiple of ten for a card number: every second digit before the last
 * is doubled.
 *
 * @param digits values 0 to 9, or their ASCII codes
 */
export const luhnSum = (digits: Uint8Array): number => {
  let sum = 0
  for (let at = 0; at < digits.length; at++) {
    const digit = digits[at]! & 15
    sum += (digits.length - at) % 2 === 0 ? doubled(digit) : digit
  }
  return sum
}

/**
 * Calls `onCard` for every window of 13 to 19 digits that begins as an issuer's numbers do, has a length of theirs and
 * passes the Luhn test (ISO/IEC 7812-1 annex B), wherever in the digits it is.
 *
 * @param digits values 0 to 9
 */
export const findCards = (digits: Uint8Array, onCard: (from: number, to: number) => void): void => {
  const count = digits.length
  if (count < digitsMin) return
  // The Luhn sums of all digits before a place, with every digit at an even or an odd place doubled.
  const evenDoubled = new Uint32Array(count + 1)
  const oddDoubled = new Uint32Array(count + 1)
  for (let at = 0; at < count; at++) {
    const digit = digits[at]!
    const isEven = at % 2 === 0
    evenDoubled[at + 1] = evenDoubled[at]! + (isEven ? doubled(digit) : digit)
    oddDoubled[at + 1] = oddDoubled[at]! + (isEven ? digit : doubled(digit))
  }
  for (let from = 0; from + digitsMin <= count; from++) {
    const start =
      digits[from]! * 1000 + digits[from + 1]! * 100 + digits[from + 2]! * 10 + digits[from + 3]!
    const lengths = lengthsByStart[start]!
    if (lengths === 0) continue
    for (let length = digitsMin; length <= digitsMax && from + length <= count; length++) {
      if ((lengths & (1 << length)) === 0) continue
      const to = from + length
      // The last digit is not doubled, the one before it is.
      const sums = to % 2 === 0 ? evenDoubled : oddDoubled
      if ((sums[to]! - sums[from]!) % 10 === 0) onCard(from, to)
    }
  }
}
