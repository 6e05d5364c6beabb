/** Recursive length prefix (Ethereum yellow paper, appendix B). */

export type RlpItem = Uint8Array | readonly RlpItem[]

const empty = new Uint8Array(0)

/** A whole number in RLP's form: big endian, without leading zeros; zero is empty. */
export const rlpInteger = (value: bigint | number): Uint8Array => {
  if (value === 0 || value === 0n) return empty
  if (value < 0x100) return Uint8Array.of(Number(value))
  const hex = value.toString(16)
  return Buffer.from(hex.length % 2 === 0 ? hex : `0${hex}`, 'hex')
}

export const rlpEncode = (item: RlpItem): Uint8Array => {
  const out = new Uint8Array(encodedSize(item))
  write(item, out, 0)
  return out
}

const encodedSize = (item: RlpItem): number => {
  if (item instanceof Uint8Array) {
    if (item.length === 1 && item[0]! < 0x80) return 1
    return headSize(item.length) + item.length
  }
  const payload = payloadSize(item)
  return headSize(payload) + payload
}

const payloadSize = (items: readonly RlpItem[]): number => {
  let size = 0
  for (const item of items) size += encodedSize(item)
  return size
}

const headSize = (length: number): number => (length < 56 ? 1 : 1 + lengthBytes(length))

const lengthBytes = (length: number): number => {
  let bytes = 0
  for (let rest = length; rest > 0; rest >>>= 8) bytes++
  return bytes
}

/** @returns the offset after the last byte written */
const write = (item: RlpItem, out: Uint8Array, at: number): number => {
  if (item instanceof Uint8Array) {
    if (item.length === 1 && item[0]! < 0x80) {
      out[at] = item[0]!
      return at + 1
    }
    const start = writeHead(0x80, item.length, out, at)
    out.set(item, start)
    return start + item.length
  }
  let next = writeHead(0xc0, payloadSize(item), out, at)
  for (const child of item) next = write(child, out, next)
  return next
}

const writeHead = (base: number, length: number, out: Uint8Array, at: number): number => {
  if (length < 56) {
    out[at] = base + length
    return at + 1
  }
  const bytes = lengthBytes(length)
  out[at] = base + 55 + bytes
  for (let i = 0; i < bytes; i++) out[at + 1 + i] = (length >>> (8 * (bytes - 1 - i))) & 0xff
  return at + 1 + bytes
}

/** Lists within lists; what is read here has three. */
const depthMax = 8

/** @returns undefined if the bytes are not exactly one item in its shortest form, or nested too deep */
export const decodeRlp = (bytes: Uint8Array): RlpItem | undefined => {
  const read = readItem(bytes, 0, 0)
  return read?.end === bytes.length ? read.item : undefined
}

type Read = { readonly item: RlpItem; readonly end: number }

const readItem = (bytes: Uint8Array, at: number, depth: number): Read | undefined => {
  const first = bytes[at]
  if (first === undefined || depth > depthMax) return undefined
  if (first < 0x80) return { item: bytes.subarray(at, at + 1), end: at + 1 }
  const isList = first >= 0xc0
  const payload = payloadOf(bytes, at, isList ? 0xc0 : 0x80)
  if (payload === undefined) return undefined
  const { start, end } = payload
  if (!isList) {
    const isShortest = end - start !== 1 || bytes[start]! >= 0x80
    return isShortest ? { item: bytes.subarray(start, end), end } : undefined
  }
  const items: RlpItem[] = []
  for (let next = start; next < end; ) {
    const read = readItem(bytes, next, depth + 1)
    if (read === undefined || read.end > end) return undefined
    items.push(read.item)
    next = read.end
  }
  return { item: items, end }
}

const payloadOf = (
  bytes: Uint8Array,
  at: number,
  base: number,
): { readonly start: number; readonly end: number } | undefined => {
  const short = bytes[at]! - base
  const lengthSize = Math.max(0, short - 55)
  let length = short
  if (lengthSize > 0) {
    length = 0
    for (let i = 1; i <= lengthSize; i++) length = length * 256 + (bytes[at + i] ?? 0)
    if (length < 56 || bytes[at + 1] === 0) return undefined
  }
  const start = at + 1 + lengthSize
  const end = start + length
  return end <= bytes.length ? { start, end } : undefined
}
