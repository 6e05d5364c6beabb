import { isUtf8 } from 'node:buffer'
import type { XmlNative } from '#codecs/xml'

/** Works on any Uint8Array; the types know only Buffer's slower ways to it. */
type Slice = (this: Uint8Array, start: number, end: number) => string
const { latin1Slice, utf8Slice } = Buffer.prototype as unknown as {
  readonly latin1Slice: Slice
  readonly utf8Slice: Slice
}

/** The runtime's own text functions, which the pure scanner cannot import. */
export const nativeText: XmlNative = {
  isUtf8,
  latin1: (bytes, start, end) => latin1Slice.call(bytes, start, end),
  utf8: (bytes, start, end) => utf8Slice.call(bytes, start, end),
}
