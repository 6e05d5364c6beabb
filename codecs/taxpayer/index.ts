/*
 * Check digits of CPF and CNPJ, the numbers of Brazil's taxpayers. Modulo 11; a letter of an alphanumeric CNPJ counts
 * as its ASCII code less 48. Source: Receita Federal (IN 2.229/2024 for the alphanumeric form).
 */

const cpfChars = 11

/** A CPF by its form alone. */
export const cpfForm = /^\d{11}$/
/** A CNPJ without punctuation, numeric or alphanumeric, by its form alone. */
export const cnpjForm = /^[0-9A-Z]{12}\d{2}$/
/** A CPF or CNPJ by its form alone. */
export const taxIdForm = /^(?:\d{11}|[0-9A-Z]{12}\d{2})$/
/** An ISPB: the root of its institution's CNPJ. */
export const ispbForm = /^[0-9A-Z]{8}$/

/** Modulo 11 over the first `count` values, weights rising from 2 to `weightMax` from the right. */
const checkDigit = (values: ArrayLike<number>, count: number, weightMax: number): number => {
  let sum = 0
  let weight = 2
  for (let i = count - 1; i >= 0; i--) {
    sum += (values[i] as number) * weight
    weight = weight === weightMax ? 2 : weight + 1
  }
  const rest = sum % 11
  return rest < 2 ? 0 : 11 - rest
}

/** Numbers of one repeated digit have right check digits, but nobody is given one. */
const isRepeated = (values: ArrayLike<number>): boolean => {
  for (let i = 1; i < values.length; i++) if (values[i] !== values[0]) return false
  return true
}

/**
 * True for the digits of a CPF.
 *
 * @param digits eleven values 0 to 9
 * @example areCpfDigits([1, 2, 3, 4, 5, 6, 7, 8, 9, 0, 9]) // true
 */
export const areCpfDigits = (digits: ArrayLike<number>): boolean =>
  checkDigit(digits, 9, 11) === digits[9] &&
  checkDigit(digits, 10, 11) === digits[10] &&
  !isRepeated(digits)

/**
 * True for the digits of a CNPJ.
 *
 * @param digits fourteen values 0 to 9; a letter has 17 to 42
 * @example areCnpjDigits([1, 2, 3, 4, 5, 6, 7, 8, 0, 0, 0, 1, 9, 5]) // true
 */
export const areCnpjDigits = (digits: ArrayLike<number>): boolean =>
  checkDigit(digits, 12, 9) === digits[12] &&
  checkDigit(digits, 13, 9) === digits[13] &&
  !isRepeated(digits)

const valuesOf = (text: string): readonly number[] =>
  Array.from(text, (character) => character.charCodeAt(0) - 48)

/**
 * True for 11 digits with right check digits that are not all the same digit.
 *
 * @example isCpf('12345678909') // true
 */
export const isCpf = (text: string): boolean => cpfForm.test(text) && areCpfDigits(valuesOf(text))

/**
 * True for 14 characters, numeric or alphanumeric, with right check digits.
 *
 * @example isCnpj('12ABC34501DE35') // true
 */
export const isCnpj = (text: string): boolean =>
  cnpjForm.test(text) && areCnpjDigits(valuesOf(text))

/**
 * True for a CPF or CNPJ with right check digits.
 *
 * @example isTaxId('12345678909') // true
 */
export const isTaxId = (text: string): boolean => isCpf(text) || isCnpj(text)

/**
 * A CPF as it may be shown to a payer: its six middle digits. A CNPJ is public.
 *
 * @example maskedTaxId('12345678909') // '***456789**'
 */
export const maskedTaxId = (taxId: string): string =>
  taxId.length === cpfChars ? `***${taxId.slice(3, 9)}**` : taxId
