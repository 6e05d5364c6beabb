import type { CardMessage } from '#codecs/iso8583'
import { currencyLetters } from './domain.ts'

/** DE 4 of a message; undefined unless it can be read. */
export const centsIn = ({ amount = '' }: CardMessage): bigint | undefined =>
  /^\d{12}$/.test(amount) ? BigInt(amount) : undefined

/** The letters of DE 49, or where we do not know them the field itself. */
export const currencyIn = ({ currency }: CardMessage): string | undefined =>
  currency && (currencyLetters(currency) ?? currency)
