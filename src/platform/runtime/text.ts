import { isUtf8 } from 'node:buffer'

/** Works on any Uint8Array; the types know only Buffer's slower ways to it. */
type Slice = (this: Uint8Array, start: number, end: number) => string
const { latin1Slice, utf8Slice } = Buffer.prototype as unknown as {
  readonly latin1Slice: Slice
  readonly utf8Slice: Slice
}

/** The runtime's own text functions, which we hand to pure code: several times as fast as web-standard decoders. */
export const nativeText = {
  isUtf8: (bytes: Uint8Array): boolean => isUtf8(bytes),
  /** One character for each byte. */
  latin1: (bytes: Uint8Array, start: number, end: number): string =>
    latin1Slice.call(bytes, start, end),
  utf8: (bytes: Uint8Array, start: number, end: number): string =>
    utf8Slice.call(bytes, start, end),
}

/**
 * The same well-formed text, alone in memory: a text that was cut from a larger one keeps all of that one in memory.
 * For
 * texts that are read from messages and outlive them.
 */
export const ownText = (text: string): string => Buffer.from(text).toString()

/** The beginning of a text, in whole characters: PostgreSQL refuses half of a surrogate pair in JSON, and so does XML. */
export const firstCharacters = (text: string, charactersMax: number): string =>
  text.length <= charactersMax
    ? text
    : [...text.slice(0, 2 * charactersMax)].slice(0, charactersMax).join('')

/** White space, and what shows as nothing. */
const blank = /^[\s\u00ad\u200b-\u200d\u2060\ufeff]*$/
/** Marks, embeddings, overrides and isolates of direction: with them a text shows as another. */
const directional = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/

/** Whether a text holds nothing that can be seen. */
export const isBlank = (text: string): boolean => blank.test(text)

export const changesDirection = (text: string): boolean => directional.test(text)

/** An address to which a path is put: its own ends in none. */
export const withoutSlashes = (url: string): string => {
  let base = url
  while (base.endsWith('/')) base = base.slice(0, -1)
  return base
}
