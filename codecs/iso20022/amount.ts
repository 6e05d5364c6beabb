import { CodecError, trimmed } from '#codecs/bytes'

/** Digits an SPI amount may have in all (`ActiveCurrencyAndAmount_SimpleType`: totalDigits 18). */
const amountDigitsMax = 18

/** White space of XML. */
const blanks = '\t\n\r '
const decimal = /^([+-]?)(\d*)(?:\.(\d*))?$/

/**
 * Reads an `xs:decimal` with at most two fraction digits as cents.
 *
 * Accepts what the schema accepts: `1000`, `1000.5`, `1000.50`, `+1`, `.5`, surrounding white space,
 * leading zeros and trailing fraction zeros beyond the second digit.
 *
 * @throws CodecError `amount_syntax`, `amount_negative`, `amount_fraction_digits`, `amount_total_digits`
 * @example parseCents('1000.5') // 100050n
 */
export const parseCents = (text: string, offset = 0): bigint => {
  const plain = plainCents(text)
  if (plain >= 0) return BigInt(plain)
  const match = decimal.exec(trimmed(text, blanks))
  const whole = match?.[2] ?? ''
  const fraction = match?.[3] ?? ''
  if (match === null || whole.length + fraction.length === 0) {
    throw new CodecError('amount_syntax', offset, 'an amount is a decimal number with a dot')
  }
  const fractionEnd = lengthWithoutTrailingZeros(fraction)
  if (fractionEnd > 2) {
    throw new CodecError(
      'amount_fraction_digits',
      offset,
      'an amount has at most 2 fraction digits',
      {
        fractionDigits: fractionEnd,
        fractionDigitsMax: 2,
      },
    )
  }
  const wholeStart = leadingZeros(whole)
  const totalDigits = whole.length - wholeStart + fractionEnd
  if (totalDigits > amountDigitsMax) {
    throw new CodecError('amount_total_digits', offset, 'an amount has at most 18 digits', {
      totalDigits,
      totalDigitsMax: amountDigitsMax,
    })
  }
  const cents = BigInt(`${whole.slice(wholeStart)}${fraction.slice(0, 2).padEnd(2, '0')}`)
  if (match[1] === '-' && cents !== 0n) {
    throw new CodecError('amount_negative', offset, 'an amount is not negative')
  }
  return cents
}

/** Longest text whose cents are exact in a number. */
const plainLengthMax = 16

/** The cents of digits, a dot and two digits, as nearly every amount is written; -1 for any other form. */
const plainCents = (text: string): number => {
  const dot = text.length - 3
  if (dot < 1 || text.length > plainLengthMax || text.charCodeAt(dot) !== 0x2e) return -1
  let cents = 0
  for (let at = 0; at < text.length; at++) {
    if (at === dot) continue
    const digit = text.charCodeAt(at) - 0x30
    if (digit < 0 || digit > 9) return -1
    cents = cents * 10 + digit
  }
  return cents
}

/**
 * Cents, a whole number, as a decimal with exactly two fraction digits: `100000n` → `1000.00`.
 *
 * @example formatCents(100050n) // '1000.50'
 */
export const formatCents = (cents: bigint | number): string => {
  const digits = String(cents < 0 ? -cents : cents).padStart(3, '0')
  return `${cents < 0 ? '-' : ''}${digits.slice(0, -2)}.${digits.slice(-2)}`
}

const leadingZeros = (digits: string): number => {
  let at = 0
  while (digits.charCodeAt(at) === 0x30) at++
  return at
}

const lengthWithoutTrailingZeros = (digits: string): number => {
  let end = digits.length
  while (end > 0 && digits.charCodeAt(end - 1) === 0x30) end--
  return end
}
