import { rsfnErrors } from './errors.ts'
import { decodeRsfnHeader, isZeroBlock, rsfnAuthorities, rsfnHeaderBytes } from './header.ts'

/** One line of an explained header. `value` is hexadecimal for codes and blocks. */
export type RsfnFieldExplained = {
  readonly field: string
  readonly offset: number
  readonly length: number
  readonly name: string
  readonly value: string
  readonly meaning: string
}

type Names = Readonly<Record<number, string>>

const protocols: Names = {
  0: 'clear, no security',
  2: 'second version: 3DES-CBC',
  3: 'third version: AES-256-GCM',
}
const specialUses: Names = {
  0: 'normal',
  1: 'certificate not yet active',
  2: 'broadcast, not encrypted',
  3: 'security message, not encrypted',
  4: 'file, not compressed',
  6: 'file, not compressed, not encrypted',
  8: 'file, compressed',
  10: 'file, compressed, not encrypted',
}
const keys: Names = { 1: 'RSA-1024', 2: 'RSA-2048' }
const ciphers: Names = { 1: '3DES-168', 2: 'AES-256' }
const hashes: Names = { 2: 'SHA-1', 3: 'SHA-256' }

const octet = (value: number): string => value.toString(16).toUpperCase().padStart(2, '0')

const serial = (text: string): string =>
  /^[0-9A-F]{32}$/.test(text) ? text.replace(/^0+(?=.)/, '') : 'not a serial number'

/** Control characters of a damaged serial are shown as dots. */
const printable = (text: string): string => text.replace(/[^\x20-\x7e]/g, '.')

/**
 * Explains each field of a security header, in wire order, and marks unknown codes.
 *
 * @throws CodecError `rsfn_header_length` if there is no header
 */
export const explainRsfn = (message: Uint8Array): readonly RsfnFieldExplained[] => {
  const header = decodeRsfnHeader(message)
  const lines: RsfnFieldExplained[] = []
  let offset = 0
  const add = (length: number, name: string, value: string, meaning: string): void => {
    const field = `C${String(lines.length + 1).padStart(2, '0')}`
    lines.push({ field, offset, length, name, value, meaning })
    offset += length
  }
  const code = (name: string, value: number, names: Names): void =>
    add(1, name, octet(value), names[value] ?? 'unknown')
  const errors: Readonly<Record<number, { readonly meaning: string }>> = rsfnErrors
  const block = (bytes: Uint8Array, zero: string, full: string): [string, string] => {
    const head = Array.from(bytes.subarray(0, 8), octet).join('')
    return [`${head}…`, isZeroBlock(bytes) ? zero : full]
  }
  add(2, 'header length', octet(rsfnHeaderBytes >> 8) + octet(rsfnHeaderBytes & 255), '588')
  code('protocol', header.protocol, protocols)
  add(1, 'error', octet(header.error), errors[header.error]?.meaning ?? 'unknown')
  code('special use', header.specialUse, specialUses)
  code('reserved', message[5]!, { 0: 'reserved' })
  code('destination key', header.destinationKey, keys)
  code('symmetric cipher', header.symmetric, ciphers)
  code('sender key', header.senderKey, keys)
  code('hash', header.hash, hashes)
  code('destination authority', header.destinationAuthority, rsfnAuthorities)
  const { destinationSerial, senderSerial } = header
  add(32, 'destination serial', printable(destinationSerial), serial(destinationSerial))
  code('sender authority', header.senderAuthority, rsfnAuthorities)
  add(32, 'sender serial', printable(senderSerial), serial(senderSerial))
  add(256, 'wrapped key', ...block(header.wrappedKey, 'body not encrypted', 'key under RSA'))
  add(256, 'signature', ...block(header.signature, 'not signed', 'RSA over the plain body'))
  return lines
}
