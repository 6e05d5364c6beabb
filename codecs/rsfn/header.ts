import { CodecError } from '#codecs/bytes'

// offset  length  field
//      0       2  C01 header length, 0x024C
//      2       1  C02 protocol version
//      3       1  C03 error code
//      4       1  C04 special use
//      5       1  C05 reserved, 0
//      6       1  C06 asymmetric algorithm of the destination key
//      7       1  C07 symmetric algorithm
//      8       1  C08 asymmetric algorithm of the sender key
//      9       1  C09 hash algorithm
//     10       1  C10 certificate authority of the destination
//     11      32  C11 certificate serial of the destination, upper-case hexadecimal in ASCII
//     43       1  C12 certificate authority of the sender
//     44      32  C13 certificate serial of the sender, as C11
//     76     256  C14 symmetric key under the destination's RSA key, zeros when not encrypted
//    332     256  C15 RSA signature of the sender over the plain body

/** Size of the header and the only legal value of C01. */
export const rsfnHeaderBytes = 588

/** Size of C14 and C15: one RSA-2048 block. */
export const rsfnBlockBytes = 256

const serialChars = 32
const at = { c11: 11, c12: 43, c13: 44, c14: 76, c15: 332 } as const

/** C02. Clear messages carry no signature and no encryption. */
export const rsfnProtocol = { CLEAR: 0x00, SECOND: 0x02, THIRD: 0x03 } as const

/** C04. */
export const rsfnSpecialUse = {
  NORMAL: 0,
  CERTIFICATE_TO_BE_ACTIVATED: 1,
  BROADCAST_NOT_ENCRYPTED: 2,
  SECURITY_NOT_ENCRYPTED: 3,
  FILE_NOT_COMPRESSED: 4,
  FILE_NOT_COMPRESSED_NOT_ENCRYPTED: 6,
  FILE_COMPRESSED: 8,
  FILE_COMPRESSED_NOT_ENCRYPTED: 10,
} as const

export type RsfnSpecialUse = (typeof rsfnSpecialUse)[keyof typeof rsfnSpecialUse]

/** C06 and C08. */
export const rsfnAsymmetric = { RSA_1024: 1, RSA_2048: 2 } as const

/** C07. */
export const rsfnSymmetric = { TRIPLE_DES: 1, AES_256: 2 } as const

/** C09. */
export const rsfnHash = { SHA_1: 2, SHA_256: 3 } as const

/** C10 and C12: certificate authorities of the network, by code. */
export const rsfnAuthorities = {
  1: 'Serpro',
  2: 'Certisign',
  3: 'Pessoas Físicas',
  4: 'Serasa',
  5: 'CAIXA',
  6: 'Valid',
  7: 'Soluti',
} as const satisfies Readonly<Record<number, string>>

/**
 * The header as numbers and bytes. Codes are not interpreted, so that a header with an unknown algorithm can be shown,
 * and refused with the right C03.
 *
 * @property destinationSerial - C11 as written: 32 characters
 * @property wrappedKey - C14, 256 bytes
 * @property signature - C15, 256 bytes
 */
export type RsfnHeader = {
  readonly protocol: number
  readonly error: number
  readonly specialUse: number
  /** C05, which must be zero. */
  readonly reserved: number
  readonly destinationKey: number
  readonly symmetric: number
  readonly senderKey: number
  readonly hash: number
  readonly destinationAuthority: number
  readonly destinationSerial: string
  readonly senderAuthority: number
  readonly senderSerial: string
  readonly wrappedKey: Uint8Array
  readonly signature: Uint8Array
}

/**
 * Writes a certificate serial in the form of C11 and C13.
 *
 * @param serial - hexadecimal, either case, at most 32 digits
 * @throws CodecError `rsfn_serial` if it is not hexadecimal or does not fit the field
 * @example rsfnSerial('2f4c') // '00000000000000000000000000002F4C'
 */
export const rsfnSerial = (serial: string): string => {
  if (!/^[0-9A-Fa-f]{1,32}$/.test(serial)) {
    throw new CodecError('rsfn_serial', at.c11, 'serial must be 1 to 32 hexadecimal digits', {
      length: serial.length,
      lengthMax: serialChars,
    })
  }
  return serial.toUpperCase().padStart(serialChars, '0')
}

const writeSerial = (out: Uint8Array, at: number, serial: string): void => {
  const text = rsfnSerial(serial)
  for (let i = 0; i < serialChars; i++) out[at + i] = text.charCodeAt(i)
}

const readSerial = (bytes: Uint8Array, at: number): string => {
  let text = ''
  for (let i = 0; i < serialChars; i++) text += String.fromCharCode(bytes[at + i]!)
  return text
}

const writeBlock = (out: Uint8Array, at: number, block: Uint8Array, field: string): void => {
  if (block.length !== rsfnBlockBytes) {
    throw new CodecError('rsfn_block_length', at, `${field} must be ${rsfnBlockBytes} bytes`, {
      length: block.length,
    })
  }
  out.set(block, at)
}

/**
 * Writes the 588 bytes.
 *
 * @throws CodecError `rsfn_serial`, `rsfn_block_length`, or `rsfn_octet` when a code is not 0–255
 */
export const encodeRsfnHeader = (header: RsfnHeader): Uint8Array => {
  const out = new Uint8Array(rsfnHeaderBytes)
  const octets: readonly [number, number][] = [
    [2, header.protocol],
    [3, header.error],
    [4, header.specialUse],
    [5, header.reserved],
    [6, header.destinationKey],
    [7, header.symmetric],
    [8, header.senderKey],
    [9, header.hash],
    [10, header.destinationAuthority],
    [at.c12, header.senderAuthority],
  ]
  out[0] = rsfnHeaderBytes >> 8
  out[1] = rsfnHeaderBytes & 0xff
  for (const [at, value] of octets) {
    if (!Number.isInteger(value) || value < 0 || value > 0xff) {
      throw new CodecError('rsfn_octet', at, 'header code must be one octet', { at })
    }
    out[at] = value
  }
  writeSerial(out, at.c11, header.destinationSerial)
  writeSerial(out, at.c13, header.senderSerial)
  writeBlock(out, at.c14, header.wrappedKey, 'C14')
  writeBlock(out, at.c15, header.signature, 'C15')
  return out
}

/**
 * Reads the header at the start of a message. `wrappedKey` and `signature` are views of `bytes`.
 *
 * @throws CodecError `rsfn_header_length` if there are fewer than 588 bytes or C01 differs (C03 = 01)
 */
export const decodeRsfnHeader = (bytes: Uint8Array): RsfnHeader => {
  if (bytes.length < rsfnHeaderBytes) {
    throw new CodecError('rsfn_header_length', bytes.length, 'message is shorter than its header', {
      length: bytes.length,
      lengthMin: rsfnHeaderBytes,
    })
  }
  const declared = (bytes[0]! << 8) | bytes[1]!
  if (declared !== rsfnHeaderBytes) {
    throw new CodecError('rsfn_header_length', 0, 'C01 must be 588', { declared })
  }
  return {
    protocol: bytes[2]!,
    error: bytes[3]!,
    specialUse: bytes[4]!,
    reserved: bytes[5]!,
    destinationKey: bytes[6]!,
    symmetric: bytes[7]!,
    senderKey: bytes[8]!,
    hash: bytes[9]!,
    destinationAuthority: bytes[10]!,
    destinationSerial: readSerial(bytes, at.c11),
    senderAuthority: bytes[at.c12]!,
    senderSerial: readSerial(bytes, at.c13),
    wrappedKey: bytes.subarray(at.c14, at.c15),
    signature: bytes.subarray(at.c15, rsfnHeaderBytes),
  }
}

/** True if C14 is all zeros, which means that the body is not encrypted. */
export const isZeroBlock = (block: Uint8Array): boolean => {
  let seen = 0
  for (const octet of block) seen |= octet
  return seen === 0
}

/** The same bytes with another C03. A receiver returns them to say why it refused a message. */
export const withRsfnError = (message: Uint8Array, code: number): Uint8Array => {
  const copy = message.slice()
  copy[3] = code
  return copy
}
