/** How we keep the bytes that go out of a message. */

import type { Queryable } from '#src/platform/database/index.ts'
import { zstdCompressed } from '#src/platform/runtime/index.ts'

/**
 * @property xml - zstd: what we put into the stored bytes, or all bytes if `position` is undefined
 * @property position - where we put it, in octets
 * @property checksum - CRC-32 of the whole, as a signed number
 */
export type KeptSending = {
  readonly xml: Uint8Array
  readonly position: number | undefined
  readonly checksum: number | undefined
}

/** We cannot make the sent bytes again: what is stored is not what we made them of. */
class SendingMismatchError extends Error {
  override readonly name = 'SendingMismatchError'
}

const checksumOf = (bytes: Uint8Array): number => Bun.hash.crc32(bytes) | 0

const isSame = (one: Uint8Array, other: Uint8Array): boolean => Buffer.compare(one, other) === 0

/**
 * Returns what to keep of bytes that are about to go out. Of a signed message that is stored already we keep only the
 * signature and its position: half of the whole.
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
      const xml = zstdCompressed(bytes.subarray(at, end))
      return { xml, position: at, checksum: checksumOf(bytes) }
    }
  }
  return { xml: zstdCompressed(bytes), position: undefined, checksum: undefined }
}

/**
 * Returns the bytes that went out of a message, or will go out.
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

/** To join the sending of each `message`, if any, as `sending`. */
export const sendingOfMessage = (sql: Queryable) => sql`
  left join lateral (
    select xml, position, checksum from spi_sendings where message_id = message.id limit 1
  ) sending on true`

/** Columns of a row with its sending, if any, joined as `sending`. */
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
