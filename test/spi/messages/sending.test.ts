import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { keptOf, sentBytes } from '../../../src/spi/messages/index.ts'

const zstd = (bytes: Uint8Array): Uint8Array => Bun.zstdCompressSync(bytes, { level: 1 })
const text = (bytes: Uint8Array): string => Buffer.from(bytes).toString()
const unsignedOf = (content: string, signatureAt: number) => ({
  bytes: Buffer.from(content),
  signatureAt,
})

test('of signed bytes only what was put in is kept, and the whole comes back', () => {
  const unsigned = unsignedOf('<A><S></S></A>', 6)
  const kept = keptOf(Buffer.from('<A><S><Signature/></S></A>'), unsigned)
  expect(text(Bun.zstdDecompressSync(kept.xml))).toBe('<Signature/>')
  expect(kept.position).toBe(6)
  expect(text(sentBytes(zstd(unsigned.bytes), kept))).toBe('<A><S><Signature/></S></A>')
})

test('whatever was stored, put in and where: the bytes sent come back', () => {
  fc.assert(
    fc.property(
      fc.uint8Array({ maxLength: 200 }),
      fc.uint8Array({ maxLength: 200 }),
      fc.nat(200),
      (stored, piece, place) => {
        const at = Math.min(place, stored.length)
        const bytes = Buffer.concat([stored.subarray(0, at), piece, stored.subarray(at)])
        const kept = keptOf(bytes, { bytes: stored, signatureAt: at })
        expect(kept.position).toBe(at)
        expect(Buffer.compare(sentBytes(zstd(stored), kept), bytes)).toBe(0)
      },
    ),
  )
})

test('bytes that are no more than that are kept whole', () => {
  const unsigned = unsignedOf('<A><S></S></A>', 6)
  for (const content of [
    '<B><S><Signature/></S></A>',
    '<A><S><Signature/></S></B>',
    '<A></A>',
    '<A><S></S></B>',
    '',
  ]) {
    const kept = keptOf(Buffer.from(content), unsigned)
    expect(kept.position).toBeUndefined()
    expect(text(sentBytes(zstd(unsigned.bytes), kept))).toBe(content)
  }
  const whole = keptOf(Buffer.from('<A/>'), undefined)
  expect(text(sentBytes(zstd(unsigned.bytes), whole))).toBe('<A/>')
})

test('without a sending the bytes stored are the bytes sent', () => {
  expect(text(sentBytes(zstd(Buffer.from('<A/>')), undefined))).toBe('<A/>')
})

test('bytes that cannot be made any more are never made up', () => {
  const unsigned = unsignedOf('<A><S></S></A>', 6)
  const kept = keptOf(Buffer.from('<A><S><Signature/></S></A>'), unsigned)
  const other = zstd(Buffer.from('<A><S></S></B>'))
  expect(() => sentBytes(other, kept)).toThrow('not what was sent')
  expect(() => sentBytes(zstd(unsigned.bytes), { ...kept, position: 5 })).toThrow('not what was')
})
