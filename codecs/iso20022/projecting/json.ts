import { formatCents } from '../amount.ts'

declare global {
  interface JSON {
    /** ECMAScript proposal "JSON.parse source text access": a value `JSON.stringify` writes as it is. */
    rawJSON(text: string): number
  }
}

/** Text that JSON does not escape; texts with surrogates go to `JSON.stringify`. */
const plain = /^[ !#-[\]-\ud7ff\ue000-\uffff]*$/

/** A text as a JSON string. */
export const jsonText = (text: string): string =>
  plain.test(text) ? `"${text}"` : JSON.stringify(text)

/** An object's members as JSON, without the braces: for putting objects together. */
export const jsonMembers = (object: object): string => JSON.stringify(object).slice(1, -1)

/** An amount as a JSON number with exactly two fraction digits, exact at any size: 100000n → `1000.00`. */
export const jsonAmount = (cents: bigint): number => JSON.rawJSON(formatCents(cents))

/** Characters of a document that stay visible. */
export const visibleCharacters = 4

/** A CPF or CNPJ with all but its last four characters replaced by asterisks. */
export const maskDocument = (document: string): string => {
  const characters = [...document]
  const hidden = Math.max(characters.length - visibleCharacters, 0)
  return '*'.repeat(hidden) + characters.slice(hidden).join('')
}
