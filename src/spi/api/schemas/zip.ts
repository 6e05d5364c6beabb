import { crc32, inflateRawSync } from 'node:zlib'

const endOfDirectory = 0x06054b50
const directoryEntry = 0x02014b50
const stored = 0
const deflated = 8

/** A file of an archive, which we read on demand. */
export type ZipEntry = { readonly name: string; readonly read: (bytesMax: number) => Uint8Array }

/**
 * The entries of a zip archive (PKWARE APPNOTE 4.3), stored or deflated. We read neither encrypted nor ZIP64 archives.
 *
 * @throws Error if it is not such an archive
 */
export const readZip = (bytes: Uint8Array): readonly ZipEntry[] => {
  const archive = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const end = archive.lastIndexOf(Buffer.from([0x50, 0x4b, 0x05, 0x06]))
  if (end === -1 || end + 22 > archive.length || archive.readUInt32LE(end) !== endOfDirectory) {
    throw new Error('the file is no zip archive')
  }
  const count = archive.readUInt16LE(end + 10)
  let at = archive.readUInt32LE(end + 16)
  const entries: ZipEntry[] = []
  for (let i = 0; i < count; i++) {
    if (at + 46 > archive.length || archive.readUInt32LE(at) !== directoryEntry) {
      throw new Error('the archive’s directory is damaged')
    }
    const nameLength = archive.readUInt16LE(at + 28)
    const place = at
    entries.push({
      // Some archivers of Windows write their own separator, against 4.4.17.
      name: archive.toString('utf8', at + 46, at + 46 + nameLength).replaceAll('\\', '/'),
      read: (bytesMax) => readEntry(archive, place, bytesMax),
    })
    at += 46 + nameLength + archive.readUInt16LE(at + 30) + archive.readUInt16LE(at + 32)
  }
  return entries
}

const readEntry = (archive: Buffer, entry: number, bytesMax: number): Uint8Array => {
  const method = archive.readUInt16LE(entry + 10)
  const size = archive.readUInt32LE(entry + 20)
  const local = archive.readUInt32LE(entry + 42)
  const start = local + 30 + archive.readUInt16LE(local + 26) + archive.readUInt16LE(local + 28)
  const bytes = unpacked(archive.subarray(start, start + size), method, bytesMax)
  if (crc32(bytes) !== archive.readUInt32LE(entry + 16)) throw new Error('the entry is damaged')
  return bytes
}

const unpacked = (packed: Buffer, method: number, bytesMax: number): Uint8Array => {
  if (method === stored && packed.length <= bytesMax) return new Uint8Array(packed)
  if (method !== deflated) throw new Error('the entry is packed in an unsupported way or too large')
  return new Uint8Array(inflateRawSync(packed, { maxOutputLength: bytesMax }))
}
