import { formatCents } from '#codecs/iso20022'

declare global {
  interface JSON {
    /** ECMAScript proposal "JSON.parse source text access": a value `JSON.stringify` writes as it is. */
    rawJSON(text: string): number
  }
}

/** An amount as a JSON number with exactly two fraction digits, exact at any size: 100000n → `1000.00`. */
export const jsonAmount = (cents: bigint): number => {
  return JSON.rawJSON(formatCents(cents))
}

const visibleCharacters = 4

/** A CPF or CNPJ with all but its last four characters replaced by asterisks. */
export const maskDocument = (document: string): string => {
  const hidden = Math.max(document.length - visibleCharacters, 0)
  return '*'.repeat(hidden) + document.slice(hidden)
}
