/** The check digit of CPF and CNPJ: weights count up from 2 at the right end, back to 2 after `last`. */
const checkDigit = (digits: Uint8Array, length: number, last: number): number => {
  let sum = 0
  for (let index = 0; index < length; index++) {
    sum += (digits[length - 1 - index] ?? 0) * (2 + (index % (last - 1)))
  }
  const rest = sum % 11
  return rest < 2 ? 0 : 11 - rest
}

/** Those of one digit repeated have right check digits and are given to nobody. */
const isRepeated = (digits: Uint8Array): boolean => digits.every((digit) => digit === digits[0])

/** @param digits eleven values 0 to 9 */
export const isCpf = (digits: Uint8Array): boolean =>
  checkDigit(digits, 9, 11) === digits[9] &&
  checkDigit(digits, 10, 11) === digits[10] &&
  !isRepeated(digits)

/** @param digits fourteen values 0 to 9 */
export const isCnpj = (digits: Uint8Array): boolean =>
  checkDigit(digits, 12, 9) === digits[12] &&
  checkDigit(digits, 13, 9) === digits[13] &&
  !isRepeated(digits)
