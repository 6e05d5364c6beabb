/** Recursive length prefix, the encoder's half (Ethereum yellow paper, appendix B). */

export type RlpItem = Uint8Array | readonly RlpItem[]

const empty = new Uint8Array(0)

/** A whole number in RLP's form: big endian, without leading zeros; zero is empty. */
export const rlpInteger = (value: bigint | number): Uint8Array => {
  if (value === 0 || value === 0n) return empty
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
