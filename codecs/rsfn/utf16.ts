import { CodecError } from '#codecs/bytes'

/**
 * Encodes text as UTF-16, big-endian, without a byte order mark: the form in which XML travels
 * behind the security header.
 *
 * @throws CodecError `utf16_surrogate` when the text holds half a surrogate pair
 */
export const encodeUtf16be = (text: string): Uint8Array<ArrayBuffer> => {
  if (!text.isWellFormed()) {
    throw new CodecError('utf16_surrogate', 0, 'text holds an unpaired surrogate')
  }
  const out = new Uint8Array(text.length * 2)
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i)
    out[i * 2] = unit >> 8
    out[i * 2 + 1] = unit & 0xff
  }
  return out
}

/**
 * Decodes UTF-16 big-endian text. A leading byte order mark FE FF is dropped.
 *
 * @throws CodecError `utf16_length` for an odd number of bytes, `utf16_surrogate` for half a pair
 */
export const decodeUtf16be = (bytes: Uint8Array): string => {
  if (bytes.length % 2 !== 0) {
    throw new CodecError('utf16_length', bytes.length, 'UTF-16 text has an odd number of bytes', {
      length: bytes.length,
    })
  }
  try {
    return new TextDecoder('utf-16be', { fatal: true }).decode(bytes)
  } catch {
    throw new CodecError('utf16_surrogate', 0, 'text holds an unpaired surrogate')
  }
}
