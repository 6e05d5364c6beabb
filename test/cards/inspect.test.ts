import { describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { iso8583Inspector } from '#src/cards/index.ts'

const message = {
  mti: '0100',
  fields: { 2: '4111111111111111', 11: '000001', 52: { hex: '0102030405060708' } },
}
const encode = (text: string): Uint8Array => new TextEncoder().encode(text)
const pack = (dialect: unknown): string => iso8583Inspector.pack?.(message, { dialect }) ?? ''

describe('inspecting ISO 8583', () => {
  for (const dialect of ['ascii', 'ascii-hex', 'bcd', 'ebcdic']) {
    test(`${dialect}: what --pack prints is explained, masked unless asked`, async () => {
      const hex = encode(`${pack(dialect)}\n`)
      const masked = await iso8583Inspector.explain(hex, { dialect })
      expect(masked.value).toEqual({
        mti: '0100',
        fields: { 2: '411111******1111', 11: '000001', 52: { hex: '***' } },
      })
      expect(JSON.stringify(masked)).not.toContain('4111111111111111')
      expect((await iso8583Inspector.explain(hex, { dialect, unmasked: true })).value).toEqual(
        message,
      )
    })
  }

  test('a frame is taken off; more than one is refused', async () => {
    const body = pack('ascii')
    const frame = `${(body.length / 2).toString(16).padStart(4, '0')}${body}`
    const { value } = await iso8583Inspector.explain(encode(frame), { frame: 'binary-2' })
    expect(value).toMatchObject({ mti: '0100' })
    const twice = () => iso8583Inspector.explain(encode(frame + frame), { frame: 'binary-2' })
    expect(twice).toThrow('the input is not one whole frame')
  })

  test('a message that is not valid says where and why, after what could be read', async () => {
    const { failure, fields } = await iso8583Inspector.explain(
      encode(pack('ascii').slice(0, -4)),
      {},
    )
    expect(fields.map(({ name }) => name.split(' ')[0])).toEqual(['2', '11'])
    expect(failure).toMatchObject({ code: 'iso8583_truncated', field: '52', offset: 36 })
  })

  test('an own dialect, and names that are none', async () => {
    const dialect = { name: 'own', extends: 'ascii', fields: { 11: { max: 12 } } }
    expect(pack(dialect)).toContain('303030303030303030303031')
    expect(() => iso8583Inspector.explain(encode('00'), { dialect: 'toString' })).toThrow(
      'no dialect',
    )
    expect(() => iso8583Inspector.explain(encode('00'), { frame: 'x' })).toThrow('no framing')
  })

  test('a sensitive entry is shown nowhere, and no more if its field or message cannot be read', async () => {
    const entries = [
      { id: '001', name: 'plan', length: 2 },
      { id: '002', name: 'authentication value', sensitive: true },
    ]
    const shape = { shape: 'tlv', id_digits: 3, length_digits: 3 }
    const within = { ...shape, entries: [{ ...shape, id: '009', entries }] }
    const network = {
      name: 'own',
      brand: 'visa',
      host: 'h',
      port: 1,
      prefixes: ['4'],
      dialect: 'ascii',
      content: { composites: { 60: { ...shape, entries }, 112: within } },
    }
    const secret = 'AAABBJg0VhI0VniQEjRWAAAAAAA='
    const inside = `00100242002028${secret}`
    const fields = { 11: '000001', 60: inside, 112: `009042${inside}` }
    const packed = iso8583Inspector.pack?.({ mti: '0100', fields }, { network }) ?? ''
    const explained = await iso8583Inspector.explain(encode(packed), { network })
    expect(explained.value).toEqual({
      mti: '0100',
      fields: { 11: '000001', 60: '***', 112: '***' },
      composites: {
        60: [
          { id: '001', name: 'plan', value: '42' },
          { id: '002', name: 'authentication value', value: '***' },
        ],
        112: [
          {
            id: '009',
            name: '',
            entries: [
              { id: '001', name: 'plan', value: '42' },
              { id: '002', name: 'authentication value', value: '***' },
            ],
          },
        ],
      },
    })
    const hidden = [secret, Buffer.from(secret).toString('hex').toUpperCase()]
    const garbled = { ...fields, 60: `x${inside}` }
    for (const hex of [
      packed,
      packed.slice(0, -2),
      iso8583Inspector.pack?.({ mti: '0100', fields: garbled }, { network }) ?? '',
    ]) {
      const text = JSON.stringify(await iso8583Inspector.explain(encode(hex), { network }))
      for (const one of hidden) expect(text).not.toContain(one)
    }
    const options = { network, unmasked: true }
    const open = await iso8583Inspector.explain(encode(packed), options)
    expect(open.value).toMatchObject({ fields })
  })

  test('what the file does not name is hidden within a field that is hidden as a whole', async () => {
    const path = join(import.meta.dir, '../../docs/networks/cielo-like.json')
    const [network] = JSON.parse(readFileSync(path, 'utf8')) as readonly unknown[]
    const fields = { 11: '000001', 48: 'T9903123420702030458401X', 112: '002003123' }
    const packed = iso8583Inspector.pack?.({ mti: '0110', fields }, { network }) ?? ''
    const explained = async (options: object) =>
      (await iso8583Inspector.explain(encode(packed), { network, ...options })).value
    const read = (shown: (value: string) => string) => ({
      composites: {
        48: [
          { id: '99', name: '', value: shown('123') },
          {
            id: '42',
            name: 'electronic commerce',
            entries: [{ id: '02', name: '', value: shown('045') }],
          },
          { id: '84', name: 'advice', value: 'X' },
        ],
        112: [{ id: '002', name: '', value: '123' }],
      },
    })
    expect(await explained({})).toMatchObject(read(() => '***'))
    expect(await explained({ unmasked: true })).toMatchObject(read((value) => value))
  })

  test('a private field that cannot be read says why, and hides no other', async () => {
    const path = join(import.meta.dir, '../../docs/networks/cielo-like.json')
    const [network] = JSON.parse(readFileSync(path, 'utf8')) as readonly unknown[]
    const fields = { 11: '000001', 48: 'T42XX', 112: '0010042106' }
    const packed = iso8583Inspector.pack?.({ mti: '0100', fields }, { network }) ?? ''
    const explained = await iso8583Inspector.explain(encode(packed), { network })
    expect(explained.value).toMatchObject({
      composites: {
        48: [{ name: 'not read', value: 'field 48: identifier and length' }],
        112: [{ id: '001', name: 'installments' }],
      },
    })
  })
})
