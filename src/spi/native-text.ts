import { isUtf8 } from 'node:buffer'
import type { XmlNative } from '#codecs/xml'

/** The runtime's own text functions, which the pure scanner cannot import. */
export const nativeText: XmlNative = {
  isUtf8,
  latin1: (bytes) => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('latin1'),
}
