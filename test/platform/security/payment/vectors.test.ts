import { describe, expect, test } from 'bun:test'
import { createHmac } from 'node:crypto'
import {
  checkValueOf,
  type MacAlgorithm,
  macAlgorithms,
  macOf,
  type PinFormat,
  sealPin,
  translatePin,
  unwrapDesKey,
} from '#src/platform/security/index.ts'

/* Every value was made by two or more of OpenSSL, pyca, pycryptodome, BouncyCastle and psec. */

const hex = (text: string): Uint8Array => Uint8Array.fromHex(text)
const ascii = (text: string): Uint8Array => new TextEncoder().encode(text)
const shown = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex').toUpperCase()

const k1 = '0123456789ABCDEF'
const k2 = `${k1}FEDCBA9876543210`
const aes = '2B7E151628AED2A6ABF7158809CF4F3C'
const keys: Readonly<Record<MacAlgorithm, string>> = {
  'x9.9': k1,
  'x9.19': k2,
  'x9.19-80': k2,
  '3des-cbc': k2,
  'aes-cmac': aes,
}
const message =
  '02003220000008C0800100000000000001234511220630150001233633323630363030303132335445524D303030314D45524348414E54303030303030310986'

describe('message authentication codes', () => {
  const expected: Readonly<Record<MacAlgorithm, readonly [string, string]>> = {
    'x9.9': ['F1D30F6849312CA4', '6A6E10DE8A17A07A'],
    'x9.19': ['AE4B45B1B527642F', 'DC127A71F5882F05'],
    'x9.19-80': ['863BE25DAF06098B', '1F98A920A0D068B5'],
    '3des-cbc': ['E5E7A413C3E3F4B5', 'C5044C6D79F1D38E'],
    'aes-cmac': ['42821E6945CE59A5', '002BE80EC6CD4BDE'],
  }
  for (const algorithm of macAlgorithms) {
    test(`of ${algorithm}`, () => {
      const key = hex(keys[algorithm])
      const [text, packed] = expected[algorithm]
      expect(shown(macOf(algorithm, key, ascii('7654321 Now is the time for ')))).toBe(text)
      expect(shown(macOf(algorithm, key, hex(message)))).toBe(packed)
    })
  }

  test('of NIST SP 800-38B, at each length of the last block', () => {
    const data = hex(
      '6BC1BEE22E409F96E93D7E117393172AAE2D8A571E03AC9C9EB76FAC45AF8E5130C81C46A35CE411',
    )
    const of = (length: number) => shown(macOf('aes-cmac', hex(aes), data.subarray(0, length)))
    expect([of(0), of(16), of(40)]).toEqual([
      ...['BB1D6929E9593728', '070A16B46B4D4144', 'DFA66747DE9AE630'],
    ])
  })

  const openssl = (data: Uint8Array): string | undefined => {
    const options = ['-cipher', 'AES-128-CBC', '-macopt', `hexkey:${aes}`, 'CMAC']
    const run = Bun.spawnSync(['openssl', 'mac', ...options], { stdin: data })
    return run.success ? run.stdout.toString().trim().slice(0, 16) : undefined
  }
  const hasOpenssl = Bun.which('openssl') !== null && openssl(ascii('x')) !== undefined
  test.skipIf(!hasOpenssl)('of AES as OpenSSL computes them, of texts of any length', () => {
    for (const length of [1, 15, 16, 17, 33]) {
      const data = createHmac('sha512', 'data').update(String(length)).digest().subarray(0, length)
      expect(openssl(data)).toBe(shown(macOf('aes-cmac', hex(aes), data)))
    }
  })

  test('need a key of their algorithm', () => {
    expect(() => macOf('x9.9', hex(k2), hex(message))).toThrow('8 bytes')
    expect(() => macOf('x9.19', hex(k1), hex(message))).toThrow('16 bytes')
    expect(() => macOf('aes-cmac', hex(k1), hex(message))).toThrow('16 or 24 or 32')
  })
})

const zmk = hex('5D6B2A0E4C8F91A237C4D0E09B5826FE')
const zpk1 = hex('89B07A34A1B3F47F89B07A34A1B3F489')
const zpk2 = hex('C2B5A7D3E9F1086423579BDF13254686')

describe('keys', () => {
  test('have check values', () => {
    expect(shown(checkValueOf('des', hex(k2)))).toBe('08D7B4')
    expect(shown(checkValueOf('des', zpk1))).toBe('C3F11D')
    expect(shown(checkValueOf('des', zpk2))).toBe('AD713D')
    expect(shown(checkValueOf('des', zmk))).toBe('A16557')
    expect(shown(checkValueOf('aes', hex(aes)))).toBe('7AD386C376')
  })

  test('under another key are opened, and refused where that was not theirs', () => {
    const wrapped = hex('A2D5D8B0AA1A13220BF389C6A351EC58')
    expect(shown(unwrapDesKey(zmk, wrapped))).toBe(shown(zpk1))
    expect(() => unwrapDesKey(zpk2, wrapped)).toThrow('parity')
    expect(() => unwrapDesKey(zmk, wrapped.subarray(0, 12))).toThrow('bytes')
  })
})

describe('PIN blocks', () => {
  const pan = ascii('4111111111111111')
  const fixed = (nibbles: string) => () =>
    Uint8Array.from(nibbles, (one) => Number.parseInt(one, 16))
  const pin = [1, 2, 3, 4]

  test('are made as others make them', () => {
    const sealed = (format: PinFormat, key: Uint8Array, noise = '0'.repeat(16)) =>
      shown(sealPin(format, key, pin, pan, fixed(noise)))
    expect([sealed('0', zpk1), sealed('0', zpk2)]).toEqual(['C196117D249C2A1B', 'E8430B2C908E2729'])
    // The filling is 567890ABCD.
    const one = `000000${'567890ABCD'}`
    expect([sealed('1', zpk1, one), sealed('1', zpk2, one)]).toEqual([
      ...['6EA4A4017E7304CE', '3FBEC6C4AFEAD065'],
    ])
  })

  test('of format 4 are made as others make them', () => {
    const key = hex('00112233445566778899AABBCCDDEEFF')
    const noise = () => Uint8Array.from([...hex(k1), ...new Array(8).fill(0)])
    expect(shown(sealPin('4', key, pin, pan, noise))).toBe('F4DF86A4AE200E19E0F01167BD3DEFD9')
  })

  test('go to another key and format, with the PIN that they had', () => {
    const aesKey = hex('00112233445566778899AABBCCDDEEFF')
    const random16 = () => crypto.getRandomValues(new Uint8Array(16))
    const sides = [
      ...([
        ['0', zpk1],
        ['3', zpk2],
        ['4', aesKey],
      ] as const),
    ].map(([format, key]) => ({ format, key }))
    const back = { format: '0', key: zpk1 } as const
    for (const from of sides) {
      const given = sealPin(from.format, from.key, pin, pan, random16)
      for (const to of sides) {
        const there = translatePin(given, from, to, pan, random16)
        expect(shown(translatePin(there, to, back, pan, random16))).toBe('C196117D249C2A1B')
      }
    }
    const given = (text: string, format: PinFormat) =>
      shown(
        translatePin(hex(text), { format, key: zpk1 }, { format: '0', key: zpk2 }, pan, random16),
      )
    expect(given('9750BF125F7B5E3B', '3')).toBe('E8430B2C908E2729')
    expect(given('6EA4A4017E7304CE', '1')).toBe('E8430B2C908E2729')
  })

  test('are refused under another key, of another card, and into format 1', () => {
    const random16 = () => new Uint8Array(16)
    const block = hex('C196117D249C2A1B')
    const to = { format: '0', key: zpk2 } as const
    const from =
      (key: Uint8Array, of = pan, format: PinFormat = '0') =>
      () =>
        translatePin(block, { format, key }, to, of, random16)
    expect(from(zpk2)).toThrow('no PIN block')
    expect(from(zpk1, ascii('4111111111191111'))).toThrow('no PIN block')
    expect(from(zpk1, pan, '3')).toThrow('no PIN block')
    expect(from(zpk1, pan, '4')).toThrow('another length')
    expect(() =>
      translatePin(block, { format: '0', key: zpk1 }, { format: '1', key: zpk2 }, pan, random16),
    ).toThrow('format 1')
  })
})
