import { isUtf8 } from 'node:buffer'
import type { XmlNative } from '#codecs/xml'

/** Works on any Uint8Array; the types know only Buffer's slower ways to it. */
const { latin1Slice } = Buffer.prototype as unknown as {
  latin1Slice(this: Uint8Array, start: number, end: number): string
}

/** The runtime's own text functions, which the pure scanner cannot import. */
export const nativeText: XmlNative = {
  isUtf8,
  latin1: (bytes) => latin1Slice.call(bytes, 0, bytes.length),
}
