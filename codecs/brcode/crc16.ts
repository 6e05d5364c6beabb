// CRC-16/CCITT-FALSE: polynomial 0x1021, initial value 0xFFFF, not reflected, no final XOR.
// EMV QR Code Specification, Merchant-Presented Mode, ID 63.

const polynomial = 0x1021
const initial = 0xffff
const slices = 8

const buildTables = (): Uint16Array => {
  const tables = new Uint16Array(slices * 256)
  for (let byte = 0; byte < 256; byte++) {
    let crc = byte << 8
    for (let bit = 0; bit < 8; bit++) {
      crc = crc & 0x8000 ? ((crc << 1) ^ polynomial) & 0xffff : (crc << 1) & 0xffff
    }
    tables[byte] = crc
  }
  for (let slice = 1; slice < slices; slice++) {
    for (let byte = 0; byte < 256; byte++) {
      const before = tables[(slice - 1) * 256 + byte]!
      tables[slice * 256 + byte] = ((before << 8) & 0xffff) ^ tables[before >> 8]!
    }
  }
  return tables
}

/** `TABLES[k * 256 + b]`: the remainder of byte `b` followed by `k` zero bytes. */
const crcTables = buildTables()

/**
 * CRC-16/CCITT-FALSE of `bytes[start..end)`, eight bytes per step: the eight look-ups do not depend on each other,
 * unlike those byte by byte.
 *
 * @returns 0 to 0xFFFF
 * @example crc16(new TextEncoder().encode('123456789')) // 0x29B1
 */
export const crc16 = (bytes: Uint8Array, start = 0, end = bytes.length): number => {
  const tables = crcTables
  let crc = initial
  let at = start
  for (const last = end - 8; at <= last; at += 8) {
    crc =
      tables[1792 + ((crc >> 8) ^ bytes[at]!)]! ^
      tables[1536 + ((crc & 0xff) ^ bytes[at + 1]!)]! ^
      tables[1280 + bytes[at + 2]!]! ^
      tables[1024 + bytes[at + 3]!]! ^
      tables[768 + bytes[at + 4]!]! ^
      tables[512 + bytes[at + 5]!]! ^
      tables[256 + bytes[at + 6]!]! ^
      tables[bytes[at + 7]!]!
  }
  for (; at < end; at++) {
    crc = ((crc << 8) & 0xff00) ^ tables[(crc >> 8) ^ bytes[at]!]!
  }
  return crc
}
