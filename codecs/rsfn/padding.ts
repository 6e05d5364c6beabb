import { CodecError } from '#codecs/bytes'

// EM = 0x00 || 0x02 || PS || 0x00 || M, PS at least eight nonzero random octets
// Source: RFC 8017, 7.2.1 (RSAES-PKCS1-v1_5 encryption).

const overheadBytes = 11

/**
 * Builds the encryption block of RSAES-PKCS1-v1_5 around `message`.
 *
 * @param randomBytes - source of randomness; zero octets are drawn again
 * @throws CodecError `pkcs1_length` if the message does not fit
 */
export const pkcs1Pad = (
  message: Uint8Array,
  blockBytes: number,
  randomBytes: (length: number) => Uint8Array,
): Uint8Array => {
  const separator = blockBytes - message.length - 1
  if (message.length > blockBytes - overheadBytes) {
    throw new CodecError('pkcs1_length', 0, 'message does not fit the RSA block', {
      length: message.length,
      lengthMax: blockBytes - overheadBytes,
    })
  }
  const block = new Uint8Array(blockBytes)
  block[1] = 2
  let at = 2
  while (at < separator) {
    for (const octet of randomBytes(separator - at)) {
      if (octet !== 0) block[at++] = octet
    }
  }
  block.set(message, separator + 1)
  return block
}

/**
 * Takes a message of known length out of an encryption block without a branch, an index or an
 * exception that depends on the block: a wrong block yields `synthetic` in the same time. The
 * caller goes on with the wrong key and fails at the cipher like for any altered message, so no
 * answer tells whether the padding was right (Bleichenbacher, RFC 8017 7.2.2 note).
 *
 * @param synthetic - `length` bytes that only the key holder can compute from the ciphertext
 */
export const pkcs1Unpad = (
  block: Uint8Array,
  length: number,
  synthetic: Uint8Array,
): Uint8Array<ArrayBuffer> => {
  const separator = block.length - length - 1
  let wrong = block[0]! | (block[1]! ^ 2) | block[separator]!
  // (x - 1) >>> 31 is 1 for x = 0 and 0 for 1..255.
  for (let i = 2; i < separator; i++) wrong |= (block[i]! - 1) >>> 31
  const good = (wrong - 1) >> 31
  const message = new Uint8Array(length)
  for (let i = 0; i < length; i++) {
    message[i] = (block[separator + 1 + i]! & good) | (synthetic[i]! & ~good)
  }
  return message
}
