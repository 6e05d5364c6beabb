/** The bytes that go out of a message, as they are kept. */

/** Faster than gzip's least, and smaller. */
const compressionLevel = 1

/**
 * @property xml - zstd: what was put into the stored bytes, or all of it where `position` is undefined
 * @property position - where it was put, in octets
 * @property checksum - CRC-32 of the whole, as a signed number
 */
export type KeptSending = {
  readonly xml: Uint8Array
  readonly position: number | undefined
  readonly checksum: number | undefined
}

/** The bytes that were sent cannot be made from what is stored: it is not what they were made of. */
class SendingMismatchError extends Error {
  override readonly name = 'SendingMismatchError'
}

const checksumOf = (bytes: Uint8Array): number => Bun.hash.crc32(bytes) | 0

const isSame = (one: Uint8Array, other: Uint8Array): boolean => Buffer.compare(one, other) === 0

/**
 * What is to be kept of bytes that are about to go out: of a signed message its signature and where that stands, half
 * of the whole, where the rest is stored already.
 *
 * @param unsigned - what is stored, and where its signature goes; undefined keeps the whole
 */
export const keptOf = (
  bytes: Uint8Array,
  unsigned: { readonly bytes: Uint8Array; readonly signatureAt: number } | undefined,
): KeptSending => {
  if (unsigned !== undefined) {
    const { bytes: stored, signatureAt: at } = unsigned
    const end = bytes.length - (stored.length - at)
    const isInsertion =
      end >= at &&
      isSame(bytes.subarray(0, at), stored.subarray(0, at)) &&
      isSame(bytes.subarray(end), stored.subarray(at))
    if (isInsertion) {
      const xml = compressed(bytes.subarray(at, end))
      return { xml, position: at, checksum: checksumOf(bytes) }
    }
  }
  return { xml: compressed(bytes), position: undefined, checksum: undefined }
}

const compressed = (bytes: Uint8Array): Uint8Array =>
  Bun.zstdCompressSync(bytes, { level: compressionLevel })

/**
 * The bytes that went out of a message, or are to.
 *
 * @param stored - the message's own, zstd
 * @throws SendingMismatchError
 */
export const sentBytes = (stored: Uint8Array, sending: KeptSending | undefined): Uint8Array => {
  if (sending === undefined) return Bun.zstdDecompressSync(stored)
  const { xml, position, checksum } = sending
  const kept = Bun.zstdDecompressSync(xml)
  if (position === undefined) return kept
  const before = Bun.zstdDecompressSync(stored)
  const bytes = Buffer.concat([before.subarray(0, position), kept, before.subarray(position)])
  if (checksumOf(bytes) !== checksum) {
    throw new SendingMismatchError('what is stored of the message is not what was sent')
  }
  return bytes
}

/** Columns of a row that may have a sending, joined as `sending`. */
export type SendingRow = {
  readonly sendingXml: Uint8Array | null
  readonly sendingPosition: number | null
  readonly sendingChecksum: number | null
}

export const sendingOf = (row: SendingRow): KeptSending | undefined =>
  row.sendingXml === null
    ? undefined
    : {
        xml: row.sendingXml,
        position: row.sendingPosition ?? undefined,
        checksum: row.sendingChecksum ?? undefined,
      }
