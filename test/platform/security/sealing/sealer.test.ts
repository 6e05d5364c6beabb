import { describe, expect, test } from 'bun:test'
import { randomBytes } from 'node:crypto'
import { createSealer, masterKey, SealError } from '#src/platform/security/index.ts'

const master = new Uint8Array(randomBytes(32))
const plain = new TextEncoder().encode('-----BEGIN PRIVATE KEY-----')

const reasonOf = (run: () => unknown): string => {
  try {
    run()
  } catch (error) {
    if (error instanceof SealError) return error.reason
    throw error
  }
  return 'opened'
}

describe('sealer', () => {
  test('opens what it sealed; two seals of one secret differ', () => {
    const sealer = createSealer(master)
    const [one, two] = [sealer.seal(plain, 'certificate 1'), sealer.seal(plain, 'certificate 1')]
    expect(sealer.open(one, 'certificate 1')).toEqual(plain)
    expect(one).not.toEqual(two)
    expect(Buffer.from(one).includes(Buffer.from(plain))).toBe(false)
  })

  test('no flipped octet opens, nor another place', () => {
    const sealer = createSealer(master)
    const sealed = sealer.seal(plain, 'certificate 1')
    for (let at = 0; at < sealed.length; at++) {
      const copy = sealed.slice()
      copy[at] = copy[at]! ^ 1
      expect(reasonOf(() => sealer.open(copy, 'certificate 1'))).not.toBe('opened')
    }
    expect(reasonOf(() => sealer.open(sealed, 'certificate 2'))).toBe('altered')
    expect(reasonOf(() => sealer.open(sealed.subarray(0, 36), 'certificate 1'))).toBe('altered')
  })

  test('rotation: the previous key opens and is told as stale, an unknown one does not', () => {
    const old = createSealer(master)
    const sealed = old.seal(plain, 'x')
    const next = new Uint8Array(randomBytes(32))
    const rotated = createSealer(next, [master])
    expect(rotated.open(sealed, 'x')).toEqual(plain)
    expect([rotated.isStale(sealed), rotated.isStale(rotated.seal(plain, 'x'))]).toEqual([
      true,
      false,
    ])
    expect(reasonOf(() => createSealer(next).open(sealed, 'x'))).toBe('unknown_key')
  })
})

describe('master key', () => {
  const { parse, mask } = masterKey()
  const refused = (text: string) => expect(() => parse(text, undefined)).toThrow()

  test('base64 and hexadecimal of 32 bytes', () => {
    expect(parse(master.toBase64(), undefined)).toEqual(master)
    expect(parse(master.toHex(), undefined)).toEqual(master)
    expect(mask('secret')).toBe('***')
  })

  test('31 and 33 bytes, a word and a pattern are refused', () => {
    refused(master.subarray(0, 31).toBase64())
    refused(Buffer.concat([master, master.subarray(0, 1)]).toString('base64'))
    refused('changeme')
    refused('00'.repeat(32))
    refused('0123456789abcdef'.repeat(4).slice(0, 64))
  })
})
