import { describe, expect, test } from 'bun:test'
import { CodecError } from '#codecs/bytes'
import {
  createPacker,
  createParser,
  dialects,
  type FieldValue,
  parseDialect,
  readMessage,
} from '#codecs/iso8583'

const names = ['ascii-1993', 'ascii-hex-1993', 'bcd-1993'] as const
const dialectOf = (name: string) => {
  const dialect = dialects[name]
  if (dialect === undefined) throw new Error(`no dialect ${name}`)
  return dialect
}

/** An authorization of 1993 with the fields whose definitions differ from 1987. */
const request: Readonly<Record<number, FieldValue>> = {
  2: '4111111111111111',
  3: '000000',
  4: '000000012345',
  7: '1121030000',
  11: '000042',
  12: '261121000000',
  14: '2812',
  15: '261121',
  22: 'A10101B1234C',
  24: '100',
  25: '1502',
  26: '5411',
  28: '261121',
  29: '001',
  30: '000000012345000000012345',
  31: 'REFERENCE 1',
  37: '632603000042',
  41: 'TERM0001',
  42: 'MERCHANT0000001',
  43: 'LOJA EXEMPLO\\RUA 1\\SAO PAULO\\01000BR',
  49: '986',
  53: Uint8Array.of(1, 2, 3),
  56: '11000000412611200000005123456',
  57: '001',
  93: '12345',
  97: 'C0000000000012345',
}

const refusalOf = (name: string, values: Readonly<Record<number, FieldValue>>): unknown => {
  try {
    createPacker(dialectOf(name)).pack('1100', values, new Uint8Array(4096))
    return 'accepted'
  } catch (error) {
    if (!(error instanceof CodecError)) throw error
    return [error.code, error.context['field']]
  }
}

describe('ISO 8583:1993', () => {
  for (const name of names) {
    test(`${name}: what is packed is read back`, () => {
      const out = new Uint8Array(1024)
      const end = createPacker(dialectOf(name)).pack('1100', request, out)
      const parser = createParser(dialectOf(name)).parse(out, 0, end)
      expect(parser.mti).toBe('1100')
      expect(Object.fromEntries(parser.fields().map((de) => [de, parser.value(de)]))).toEqual(
        request,
      )
    })
  }

  test('the answer has an action code of three digits; its bytes are these', () => {
    const out = new Uint8Array(128)
    const answer = { 3: '000000', 11: '000042', 12: '261121000000', 39: '000' }
    const ascii = createPacker(dialectOf('ascii-1993'))
    const end = ascii.pack('1110', answer, out)
    expect(Buffer.from(out.subarray(0, end)).toString('latin1')).toBe(
      '1110\u0020\u0030\u0000\u0000\u0002\u0000\u0000\u0000000000000042261121000000000',
    )
    const parser = createParser(dialectOf('ascii-1993')).parse(out, 0, end)
    expect([parser.mti, parser.text(39), parser.text(12)]).toEqual(['1110', '000', '261121000000'])
    // The gateway's networks are of version 1987.
    expect(() => readMessage(parser)).toThrow('not one of the gateway')
    const packed = createPacker(dialectOf('bcd-1993')).pack('1110', answer, out)
    expect(Buffer.from(out.subarray(0, packed)).toString('hex')).toBe(
      '111020300000020000000000000000422611210000000000',
    )
  })

  test('values of 1987 that 1993 does not have are refused', () => {
    const refused = (values: Readonly<Record<number, FieldValue>>) =>
      refusalOf('ascii-1993', values)
    expect(refused({ 22: 'A10101B1234C1' })).toEqual(['iso8583_length', '22'])
    expect(refused({ 22: 'A10101B1234*' })).toEqual(['iso8583_character', '22'])
    expect(refused({ 24: '1000' })).toEqual(['iso8583_length', '24'])
    expect(refused({ 25: '15020' })).toEqual(['iso8583_length', '25'])
    expect(refused({ 28: 'D00000001' })).toEqual(['iso8583_length', '28'])
    expect(refused({ 30: '0'.repeat(25) })).toEqual(['iso8583_length', '30'])
    expect(refused({ 39: 'A0' })).toEqual(['iso8583_character', '39'])
    expect(refused({ 43: 'X'.repeat(99) })).toBe('accepted')
    expect(refused({ 43: 'X'.repeat(100) })).toEqual(['iso8583_length', '43'])
    expect(refused({ 53: new Uint8Array(48) })).toBe('accepted')
    expect(refused({ 53: new Uint8Array(49) })).toEqual(['iso8583_length', '53'])
    expect(refused({ 56: '1'.repeat(35) })).toBe('accepted')
    expect(refused({ 56: '1'.repeat(36) })).toEqual(['iso8583_length', '56'])
  })
})

describe('every built-in dialect', () => {
  for (const [name, dialect] of Object.entries(dialects)) {
    test(`${name} obeys the rules of own dialects`, () => {
      expect(parseDialect(JSON.parse(JSON.stringify(dialect)), {})).toEqual(dialect)
    })

    test(`${name} defines every field, and takes each at its longest`, () => {
      const values: Record<number, FieldValue> = {}
      for (let de = 2; de <= 128; de++) {
        if (de === 65) continue
        const spec = dialect.fields[de]
        if (spec === undefined) throw new Error(`no field ${de}`)
        if (spec.type === 'b') values[de] = new Uint8Array(spec.max).fill(0x5a)
        else values[de] = spec.type === 'x+n' ? `C${'7'.repeat(spec.max)}` : '7'.repeat(spec.max)
      }
      const out = new Uint8Array(65_536)
      const end = createPacker(dialect).pack('0100', values, out)
      const parser = createParser(dialect).parse(out, 0, end)
      for (const [de, value] of Object.entries(values)) {
        expect(parser.value(Number(de))).toEqual(value)
      }
    })
  }
})
