import zlib from 'node:zlib'
import { compressionsAlgorithms, compressionsAlgorithmsByBitmask } from '@platformatic/kafka'

/** The most bytes of a batch: twice what we would send, for others may gather more before they compress. */
export const batchBytesMax = 16 * 1024 * 1024

const gzip = 1
const snappy = 2
const lz4 = 3
const zstd = 4

type Codec = { readonly compressSync: (data: Buffer) => Buffer }

const limits = { maxOutputLength: batchBytesMax }
/** The runtime has it, and its types have not. */
const { zstdDecompressSync } = zlib as unknown as {
  readonly zstdDecompressSync: typeof zlib.gunzipSync
}

/**
 * The records of a compressed batch. We refuse a batch above {@link batchBytesMax} before it takes memory: a few bytes
 * may stand for gigabytes.
 *
 * @param codec as the batch's attributes have it
 * @throws Error if the batch is too large, or not made by the codec
 */
export const inflated = (codec: number, packed: Buffer): Buffer => {
  switch (codec) {
    case gzip:
      return zlib.gunzipSync(packed, limits)
    case zstd:
      return zstdDecompressSync(packed, limits)
    case snappy:
      demandRoom(snappyBytes(packed))
      return compressionsAlgorithms.snappy.decompressSync(packed)
    case lz4:
      demandRoom(lz4Bytes(packed))
      return compressionsAlgorithms.lz4.decompressSync(packed)
    default:
      throw new Error(`nothing is known of compression ${codec}`)
  }
}

/** The bytes that a sound codec packs and inflates again, unless it lacks memory. */
const provenBytes = batchBytesMax / 2

/** @throws Error if the codec, not the batch, is why it could not be inflated: no memory, say */
export const demandSound = (codec: number): void => {
  const pack = (compressionsAlgorithmsByBitmask as Readonly<Record<number, Codec>>)[codec]
  if (codec === 0 || pack === undefined) return
  const plain = Buffer.alloc(provenBytes)
  if (!inflated(codec, pack.compressSync(plain)).equals(plain)) {
    throw new Error(`compression ${codec} works no more`)
  }
}

const demandRoom = (bytes: number): void => {
  if (bytes > batchBytesMax) {
    throw new RangeError(`the batch has up to ${bytes} bytes; at most ${batchBytesMax} are taken`)
  }
}

/** Java's clients send pieces, each with its length before it. */
const snappyPieces = Buffer.of(0x82, 0x53, 0x4e, 0x41, 0x50, 0x50, 0x59, 0)
const snappyHeadBytes = 16

/** Adds up the sizes that the pieces state at their beginning. */
const snappyBytes = (packed: Buffer): number => {
  if (!packed.subarray(0, snappyPieces.length).equals(snappyPieces)) return snappyPieceBytes(packed)
  let bytes = 0
  for (let at = snappyHeadBytes; at < packed.length; at += 4 + packed.readUInt32BE(at)) {
    bytes += snappyPieceBytes(packed.subarray(at + 4))
  }
  return bytes
}

/** A number of seven bits a byte, the lowest first. */
const snappyPieceBytes = (piece: Buffer): number => {
  let bytes = 0
  for (let at = 0; at < 5; at++) {
    const byte = piece.readUInt8(at)
    bytes += (byte & 0x7f) * 2 ** (7 * at)
    if (byte < 0x80) return bytes
  }
  throw new Error('the batch is no Snappy')
}

const lz4Magic = 0x184d2204
/** By the number in the frame's head; the lower numbers have no meaning. */
const lz4BlockBytesMax = [0, 0, 0, 0, 65_536, 262_144, 1_048_576, 4_194_304] as const
const lz4RatioMax = 255
const isStored = 0x80000000

/** The most bytes there can be: the blocks of a frame state only their compressed length. */
const lz4Bytes = (packed: Buffer): number => {
  let bytes = 0
  for (let at = 0; at < packed.length; ) {
    if (packed.readUInt32LE(at) !== lz4Magic) throw new Error('the batch is no LZ4')
    const flags = packed.readUInt8(at + 4)
    const blockBytesMax = lz4BlockBytesMax[(packed.readUInt8(at + 5) >> 4) & 7] ?? 0
    at += 7 + ((flags & 0x08) === 0 ? 0 : 8) + ((flags & 0x01) === 0 ? 0 : 4)
    for (let size = packed.readUInt32LE(at); size !== 0; size = packed.readUInt32LE(at)) {
      const length = size % isStored
      bytes += size === length ? Math.min(blockBytesMax, lz4RatioMax * length) : length
      at += 4 + length + ((flags & 0x10) === 0 ? 0 : 4)
    }
    at += 4 + ((flags & 0x04) === 0 ? 0 : 4)
  }
  return bytes
}
