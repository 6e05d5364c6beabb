import { CodecError } from '#codecs/bytes'
import { hexValue } from './characters.ts'

/**
 * How one message is cut from the stream.
 *
 * @property size - of the length on the wire: bytes of a big-endian number, or digits
 * @property inclusive - the number counts its own bytes too
 * @property before - reserved zero bytes before the number
 * @property after - reserved zero bytes after it, not counted
 * @property tpdu - counted bytes before the message, as they are written; the reader gets those that came separately
 * @property trailer - a counted byte after the message
 */
export type Framing = {
  readonly name: string
  readonly encoding: 'binary' | 'ascii' | 'hex' | 'bcd'
  readonly size: number
  readonly inclusive: boolean
  readonly before: number
  readonly after: number
  readonly tpdu: Uint8Array
  readonly trailer: number | undefined
}

const none = new Uint8Array(0)

const framing = (name: string, change: Partial<Framing> = {}): Framing => ({
  name,
  encoding: 'binary',
  size: 2,
  inclusive: false,
  before: 0,
  after: 0,
  tpdu: none,
  trailer: undefined,
  ...change,
})

export const framings = {
  'binary-2': framing('binary-2'),
  'binary-2-inclusive': framing('binary-2-inclusive', { inclusive: true }),
  'binary-2-reserved': framing('binary-2-reserved', { after: 2 }),
  'reserved-binary-2': framing('reserved-binary-2', { before: 2 }),
  'binary-4': framing('binary-4', { size: 4 }),
  'ascii-4': framing('ascii-4', { encoding: 'ascii', size: 4 }),
  'ascii-4-inclusive': framing('ascii-4-inclusive', {
    encoding: 'ascii',
    size: 4,
    inclusive: true,
  }),
  'hex-4': framing('hex-4', { encoding: 'hex', size: 4 }),
  'bcd-2': framing('bcd-2', { encoding: 'bcd' }),
  'binary-2-tpdu': framing('binary-2-tpdu', { tpdu: Uint8Array.of(0x60, 0, 0, 0, 0) }),
  'binary-2-trailer': framing('binary-2-trailer', { trailer: 0x03 }),
} as const satisfies Readonly<Record<string, Framing>>

export type FramingName = keyof typeof framings

/** Longest message by default. */
export const frameBytesMaxDefault = 16_384

export const headerBytes = ({ before, size, after, tpdu }: Framing): number =>
  before + size + after + tpdu.length

/**
 * Writes header and trailer around a message of `bodyBytes` that lies, or will lie, at
 * `start + headerBytes(framing)`; returns the end of the frame.
 *
 * @throws CodecError `frame_length` when the number does not fit, `iso8583_buffer_too_small`
 */
export const writeFrame = (
  framing: Framing,
  bodyBytes: number,
  out: Uint8Array,
  start = 0,
  tpdu: Uint8Array = framing.tpdu,
): number => {
  const trailerBytes = framing.trailer === undefined ? 0 : 1
  const end = start + headerBytes(framing) + bodyBytes + trailerBytes
  if (end > out.length) {
    throw new CodecError('iso8583_buffer_too_small', start, 'the buffer is too small')
  }
  const counted =
    bodyBytes + framing.tpdu.length + trailerBytes + (framing.inclusive ? framing.size : 0)
  let at = start
  for (let i = 0; i < framing.before; i++) out[at++] = 0
  writeLength(framing, counted, out, at)
  at += framing.size
  for (let i = 0; i < framing.after; i++) out[at++] = 0
  for (let i = 0; i < framing.tpdu.length; i++) out[at++] = tpdu[i] ?? 0
  if (framing.trailer !== undefined) out[end - 1] = framing.trailer
  return end
}

const radixOf = { binary: 256, bcd: 100, ascii: 10, hex: 16 } as const

const writeLength = (
  { encoding, size }: Framing,
  value: number,
  out: Uint8Array,
  at: number,
): void => {
  const radix = radixOf[encoding]
  if (value >= radix ** size) {
    throw new CodecError('frame_length', at, 'the message is too long for its frame', {
      max: radix ** size - 1,
    })
  }
  let rest = value
  for (let i = at + size - 1; i >= at; i--) {
    const digit = rest % radix
    rest = Math.floor(rest / radix)
    if (encoding === 'binary') out[i] = digit
    else if (encoding === 'bcd') out[i] = (Math.floor(digit / 10) << 4) | (digit % 10)
    else out[i] = '0123456789abcdef'.charCodeAt(digit)
  }
}

type FrameHandler = {
  /** A message: `bytes` from `start` to `end`, valid during the call only. */
  readonly message: (bytes: Uint8Array, start: number, end: number, tpdu: Uint8Array) => void
  /** A frame of length zero. */
  readonly keepAlive: () => void
}

/**
 * Cuts messages from a stream in any chunks. A message inside one chunk is not copied; only one that spans chunks is
 * gathered, in a buffer that grows to its length at most.
 */
export class FrameDecoder {
  readonly #framing: Framing
  readonly #handler: FrameHandler
  readonly #bytesMax: number
  readonly #header: number
  #kept: Uint8Array = none
  #keptBytes = 0
  #streamOffset = 0
  #broken = false

  constructor(framing: Framing, handler: FrameHandler, bytesMax = frameBytesMaxDefault) {
    this.#framing = framing
    this.#handler = handler
    this.#bytesMax = bytesMax
    this.#header = headerBytes(framing) - framing.tpdu.length
  }

  /**
   * Takes the next bytes of the stream.
   *
   * @throws CodecError `frame_length`, `frame_reserved`, `frame_trailer`: the stream cannot be read on
   *   and must be closed; `frame_closed` for every chunk after that
   */
  push(chunk: Uint8Array): void {
    if (this.#broken)
      throw new CodecError('frame_closed', this.#streamOffset, 'the stream is broken')
    try {
      let at = 0
      while (this.#keptBytes > 0 && at < chunk.length) at = this.#gather(chunk, at)
      while (at < chunk.length) {
        const size = this.#frameBytes(chunk, at, chunk.length)
        if (size === 0 || at + size > chunk.length) {
          this.#keep(chunk, at, chunk.length, Math.max(size, this.#header))
          break
        }
        this.#deliver(chunk, at, at + size)
        at += size
      }
    } catch (error) {
      if (error instanceof CodecError && error.code.startsWith('frame_')) this.#broken = true
      throw error
    }
  }

  /** Bytes that wait for the rest of their frame. */
  get pendingBytes(): number {
    return this.#keptBytes
  }

  /** Ends, and wipes the gathered bytes. */
  clear(): void {
    this.#kept.fill(0)
    this.#keptBytes = 0
  }

  #gather(chunk: Uint8Array, at: number): number {
    const size = this.#frameBytes(this.#kept, 0, this.#keptBytes)
    const wanted = size === 0 ? this.#header : size
    const taken = Math.min(wanted - this.#keptBytes, chunk.length - at)
    this.#keep(chunk, at, at + taken, wanted)
    const known = this.#frameBytes(this.#kept, 0, this.#keptBytes)
    if (known > 0 && this.#keptBytes === known) {
      // The slot is free before the handler runs: it may throw.
      this.#keptBytes = 0
      try {
        this.#deliver(this.#kept, 0, known)
      } finally {
        this.#kept.fill(0, 0, known)
      }
    }
    return at + taken
  }

  #keep(from: Uint8Array, start: number, end: number, capacity: number): void {
    if (this.#kept.length < capacity) {
      const grown = new Uint8Array(capacity)
      grown.set(this.#kept.subarray(0, this.#keptBytes))
      this.#kept.fill(0)
      this.#kept = grown
    }
    this.#kept.set(from.subarray(start, end), this.#keptBytes)
    this.#keptBytes += end - start
  }

  /** Bytes of the whole frame at `at`; 0 while its header is incomplete. */
  #frameBytes(bytes: Uint8Array, at: number, end: number): number {
    const { before, after, size, inclusive, tpdu, trailer } = this.#framing
    if (at + this.#header > end) return 0
    for (let i = 0; i < before; i++) if (bytes[at + i] !== 0) this.#refuse('frame_reserved', i)
    for (let i = 0; i < after; i++) {
      if (bytes[at + before + size + i] !== 0) this.#refuse('frame_reserved', before + size + i)
    }
    const counted = this.#readLength(bytes, at + before)
    if (counted === 0) return this.#header
    const content = counted - (inclusive ? size : 0)
    const overhead = tpdu.length + (trailer === undefined ? 0 : 1)
    if (content < overhead || content - overhead > this.#bytesMax)
      this.#refuse('frame_length', before)
    return this.#header + content
  }

  #readLength(bytes: Uint8Array, at: number): number {
    const { encoding, size } = this.#framing
    const radix = radixOf[encoding]
    let value = 0
    for (let i = 0; i < size; i++) {
      const byte = bytes[at + i]!
      let digit = byte
      if (encoding === 'bcd')
        digit = byte >> 4 > 9 || (byte & 15) > 9 ? -1 : (byte >> 4) * 10 + (byte & 15)
      else if (encoding !== 'binary') digit = hexValue[byte]!
      if (digit < 0 || digit >= radix) this.#refuse('frame_length', at + i)
      value = value * radix + digit
    }
    return value
  }

  #deliver(bytes: Uint8Array, start: number, end: number): void {
    const { tpdu, trailer } = this.#framing
    const from = start + this.#header + tpdu.length
    const to = trailer === undefined ? end : end - 1
    const offset = this.#streamOffset
    this.#streamOffset += end - start
    if (to <= from) {
      this.#handler.keepAlive()
      return
    }
    if (trailer !== undefined && bytes[to] !== trailer) {
      throw new CodecError('frame_trailer', offset + to - start, 'the trailer is missing')
    }
    this.#handler.message(bytes, from, to, bytes.subarray(from - tpdu.length, from))
  }

  #refuse(code: string, offset: number): never {
    throw new CodecError(
      code,
      this.#streamOffset + offset,
      'the stream holds no valid frame header',
      {
        framing: this.#framing.name,
        bytesMax: this.#bytesMax,
      },
    )
  }
}
