import { describe, expect, test } from 'bun:test'
import {
  decodeRsfnHeader,
  decodeUtf16be,
  encodeRsfnHeader,
  encodeUtf16be,
  explainRsfn,
  pkcs1Pad,
  pkcs1Unpad,
  type RsfnHeader,
  rsfnErrors,
  rsfnHeaderBytes,
  rsfnSerial,
  withRsfnError,
} from '#codecs/rsfn'
import { codeOf } from '../../support/codec-error.ts'

const header: RsfnHeader = {
  protocol: 3,
  error: 0,
  reserved: 0,
  specialUse: 8,
  destinationKey: 2,
  symmetric: 2,
  senderKey: 2,
  hash: 3,
  destinationAuthority: 4,
  destinationSerial: rsfnSerial('2f4c'),
  senderAuthority: 7,
  senderSerial: rsfnSerial('AB'),
  wrappedKey: new Uint8Array(256).fill(0xc4),
  signature: new Uint8Array(256).fill(0xc5),
}

describe('header', () => {
  test('every field lies at its offset', () => {
    const bytes = encodeRsfnHeader(header)
    expect(bytes.length).toBe(588)
    expect([...bytes.subarray(0, 11)]).toEqual([0x02, 0x4c, 3, 0, 8, 0, 2, 2, 2, 3, 4])
    const text = (from: number, to: number) => String.fromCharCode(...bytes.subarray(from, to))
    expect(text(11, 43)).toBe('00000000000000000000000000002F4C')
    expect(bytes[43]).toBe(7)
    expect(text(44, 76)).toBe('000000000000000000000000000000AB')
    expect(new Set(bytes.subarray(76, 332))).toEqual(new Set([0xc4]))
    expect(new Set(bytes.subarray(332, 588))).toEqual(new Set([0xc5]))
  })

  test('decodes to what was encoded, blocks as views of the input', () => {
    const bytes = encodeRsfnHeader(header)
    const read = decodeRsfnHeader(bytes)
    expect(read).toEqual(header)
    expect(read.wrappedKey.buffer).toBe(bytes.buffer)
  })

  test('587 bytes are too few, 588 are enough', () => {
    const bytes = encodeRsfnHeader(header)
    expect(codeOf(() => decodeRsfnHeader(bytes.subarray(0, 587)))).toBe('rsfn_header_length')
    expect(codeOf(() => decodeRsfnHeader(bytes))).toBe('no error')
  })

  test('a serial of 32 digits fits, 33 do not', () => {
    expect(rsfnSerial('f'.repeat(32))).toBe('F'.repeat(32))
    expect(codeOf(() => rsfnSerial('f'.repeat(33)))).toBe('rsfn_serial')
    expect(codeOf(() => rsfnSerial('12G4'))).toBe('rsfn_serial')
    expect(codeOf(() => rsfnSerial(''))).toBe('rsfn_serial')
  })

  test('codes outside one octet and blocks of another size are refused', () => {
    expect(codeOf(() => encodeRsfnHeader({ ...header, hash: 256 }))).toBe('rsfn_octet')
    expect(codeOf(() => encodeRsfnHeader({ ...header, hash: -1 }))).toBe('rsfn_octet')
    const short = new Uint8Array(255)
    expect(codeOf(() => encodeRsfnHeader({ ...header, signature: short }))).toBe(
      'rsfn_block_length',
    )
  })

  test('an answer differs in C03 only', () => {
    const bytes = encodeRsfnHeader(header)
    const answer = withRsfnError(bytes, 0x0b)
    expect(answer[3]).toBe(0x0b)
    expect(bytes[3]).toBe(0)
    answer[3] = 0
    expect(answer).toEqual(bytes)
  })

  test('explanation names all fifteen fields, their places and the error', () => {
    const lines = explainRsfn(withRsfnError(encodeRsfnHeader(header), 0x0e))
    expect(lines.map((line) => line.field).join()).toBe(
      'C01,C02,C03,C04,C05,C06,C07,C08,C09,C10,C11,C12,C13,C14,C15',
    )
    expect(lines.map((line) => line.offset)).toEqual([
      0, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 43, 44, 76, 332,
    ])
    expect(lines[2]?.meaning).toBe(rsfnErrors[0x0e].meaning)
    expect(lines[9]?.meaning).toBe('Serasa')
    expect(lines[10]?.meaning).toBe('2F4C')
    expect(lines.at(-1)!.offset + lines.at(-1)!.length).toBe(rsfnHeaderBytes)
  })

  test('explanation survives unknown codes and a damaged serial', () => {
    const bytes = encodeRsfnHeader(header)
    bytes.fill(0xff, 2, 12)
    const lines = explainRsfn(bytes)
    expect(lines[1]).toMatchObject({ value: 'FF', meaning: 'unknown' })
    expect(lines[10]?.meaning).toBe('not a serial number')
    expect(lines[10]?.value.startsWith('.')).toBe(true)
  })
})

describe('padding (RFC 8017, 7.2)', () => {
  const secret = Uint8Array.from({ length: 44 }, (_, i) => i)
  const synthetic = new Uint8Array(44).fill(0xaa)
  const ones = (length: number) => new Uint8Array(length).fill(1)

  test('takes out what it put in', () => {
    expect(pkcs1Unpad(pkcs1Pad(secret, 256, ones), 44, synthetic)).toEqual(secret)
  })

  test('random zero octets are drawn again', () => {
    let calls = 0
    const block = pkcs1Pad(secret, 256, (length) => new Uint8Array(length).fill(calls++ % 2))
    expect(block.subarray(2, 211).includes(0)).toBe(false)
  })

  test('every single wrong octet of the padding yields the synthetic key', () => {
    for (let at = 0; at <= 211; at++) {
      const block = pkcs1Pad(secret, 256, ones)
      block[at] = at >= 2 && at < 211 ? 0 : block[at]! ^ 0x80
      expect(pkcs1Unpad(block, 44, synthetic)).toEqual(synthetic)
    }
  })

  test('a block one byte short of its padding is refused on the way in', () => {
    expect(pkcs1Pad(new Uint8Array(245), 256, ones).length).toBe(256)
    expect(codeOf(() => pkcs1Pad(new Uint8Array(246), 256, ones))).toBe('pkcs1_length')
  })
})

describe('UTF-16BE', () => {
  test('round trip beyond the first plane', () => {
    const text = 'Pagamento de João 😀'
    expect([...encodeUtf16be('Aã')]).toEqual([0, 0x41, 0, 0xe3])
    expect(decodeUtf16be(encodeUtf16be(text))).toBe(text)
  })

  test('a byte order mark is dropped, odd lengths and half pairs are refused', () => {
    expect(decodeUtf16be(Uint8Array.of(0xfe, 0xff, 0, 0x41))).toBe('A')
    expect(codeOf(() => decodeUtf16be(Uint8Array.of(0, 0x41, 0)))).toBe('utf16_length')
    expect(codeOf(() => decodeUtf16be(Uint8Array.of(0xd8, 0, 0, 0x41)))).toBe('utf16_surrogate')
    expect(codeOf(() => encodeUtf16be('\ud800'))).toBe('utf16_surrogate')
  })
})
