import { expect, test } from 'bun:test'
import { decodeBase64 } from '../../../codecs/xmldsig/base64.ts'

const decode = (text: string, length: number): Uint8Array | undefined => {
  const bytes = new TextEncoder().encode(`(${text})`)
  return decodeBase64(bytes, 1, bytes.length - 1, length)
}

/** What the runtime's strict decoder takes, where it has that length and no white space. */
const byRuntime = (text: string, length: number): Uint8Array | undefined => {
  try {
    const bytes = Uint8Array.fromBase64(text, { lastChunkHandling: 'strict' })
    return bytes.length === length && !/[\t\n\f\r ]/.test(text) ? bytes : undefined
  } catch {
    return undefined
  }
}

test('every length up to 64, digests and signature values', () => {
  for (const length of [...Array(65).keys(), 255, 256, 257]) {
    const value = crypto.getRandomValues(new Uint8Array(length))
    const text = value.toBase64()
    expect(decode(text, length)).toEqual(value)
    expect(decode(text, length + 1)).toBeUndefined()
    if (length > 0) expect(decode(text, length - 1)).toBeUndefined()
  }
})

test('any octet at any place is judged as by the strict decoder of the runtime', () => {
  for (const length of [30, 31, 32]) {
    const text = new Uint8Array(length).fill(0x5a).toBase64()
    for (let at = 0; at < text.length; at++) {
      for (let octet = 0; octet < 128; octet++) {
        const changed = text.slice(0, at) + String.fromCharCode(octet) + text.slice(at + 1)
        const expected = byRuntime(changed, length)
        const given = decode(changed, length)
        if (given === undefined || expected === undefined) expect(given).toBe(expected)
        else expect(given.toBase64()).toBe(expected.toBase64())
      }
    }
  }
})

test('octets beyond ASCII are none of the alphabet', () => {
  const bytes = new Uint8Array(44).fill(0x41)
  bytes[43] = 0x3d
  expect(decodeBase64(bytes, 0, 44, 32)).toEqual(new Uint8Array(32))
  for (let octet = 128; octet < 256; octet++) {
    bytes[7] = octet
    expect(decodeBase64(bytes, 0, 44, 32)).toBeUndefined()
  }
})

test('bits that no byte takes must be zero: one value has one spelling', () => {
  expect(decode('QQ==', 1)).toEqual(new Uint8Array([0x41]))
  expect(decode('QR==', 1)).toBeUndefined()
  expect(decode('QUI=', 2)).toEqual(new Uint8Array([0x41, 0x42]))
  expect(decode('QUJ=', 2)).toBeUndefined()
})
