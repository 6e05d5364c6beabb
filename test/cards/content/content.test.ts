import { describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { CardMessage, dialects, parseDialect } from '#codecs/iso8583'
import {
  bitOf,
  type ContentForm,
  contentForm,
  createContent,
  type Details,
  type Facts,
  MissingFactError,
  TooLongFactError,
} from '../../../src/cards/content/index.ts'
import { iso8583Inspector } from '../../../src/cards/inspect.ts'
import { parseNetwork } from '../../../src/cards/networks/index.ts'
import { shownMessage } from '../../../src/cards/networks/messages.ts'
import { hexOf } from './support.ts'

const ascii = dialects['ascii']!

const facts = (change: Partial<Facts> = {}): Facts => ({
  pan: new TextEncoder().encode('5100000000000008'),
  expiry: '2912',
  amountCents: 12_345n,
  currency: 'BRL',
  stan: '402087',
  rrn: '204716402087',
  transmission: '0216161034',
  authCode: undefined,
  responseCode: undefined,
  merchantId: 'MERCHANT000001',
  terminalId: 'TERM01',
  installments: 1,
  details: undefined,
  secrets: undefined,
  totalCents: undefined,
  isFinal: undefined,
  captureNumber: undefined,
  profile: {
    merchantId: 'MERCHANT000001',
    category: '5812',
    name: 'PADARIA DA ESQUINA',
    city: 'SAO PAULO',
    country: 'BR',
    postalCode: '01310100',
  },
  original: undefined,
  remainingCents: undefined,
  networkCode: undefined,
  settlementDate: undefined,
  totals: undefined,
  isUploaded: undefined,
  isFirst: true,
  carried: 0,
  ...change,
})

const form = (json: unknown): ContentForm => contentForm.parse(json)

/** The value of one private field, as text or hexadecimal digits. */
const written = (json: unknown, given: Facts, de: number): string => {
  const bytesOf48 = { type: 'b', max: 255, encoding: 'binary' }
  const dialect = parseDialect(
    { name: 'test', extends: 'ascii', fields: { 63: bytesOf48, 126: bytesOf48 } },
    dialects,
  )
  const content = createContent(dialect, form(json))
  const message = content.build('authorization', given)
  const value = de === 48 ? message.additionalData : message.more?.get(de)
  return typeof value === 'string' ? value : Buffer.from(value ?? []).toString('latin1')
}
const hex = (text: string): string => Buffer.from(text, 'latin1').toString('hex').toUpperCase()

const one = (de: number, composite: unknown, fields: Readonly<Record<string, unknown>> = {}) => ({
  composites: { [de]: composite },
  messages: { authorization: { fields: { [de]: 'composite', ...fields } } },
})

const headed = { shape: 'tlv', id_digits: 2, length_digits: 2 }
const secretive = {
  ...headed,
  entries: [
    { id: '01', length: 2 },
    { ...headed, id: '02', entries: [{ id: '01', sensitive: true }, { id: '02' }] },
  ],
}

/** The made field of a network like Mastercard: letter, then nested identifiers and lengths. */
const like48 = {
  ...headed,
  leading: 'T',
  entries: [
    { ...headed, id: '22', entries: [{ id: '05', value: 'M101' }] },
    { ...headed, id: '42', entries: [{ id: '01', value: '212' }] },
    { id: '43', from: 'three_ds.cavv' },
    { id: '61', value: '10000' },
    {
      ...headed,
      id: '66',
      entries: [
        { id: '01', value: '2' },
        { id: '02', from: 'three_ds.ds_transaction_id' },
      ],
    },
    { id: '92', value: '123', sensitive: true },
  ],
}

describe('a composite field', () => {
  const details: Details = { dsTransactionId: '8f3e5b1a-2c4d-4e6f-8a9b-0c1d2e3f4a5b' }
  const secrets = { cavv: 'kBMGd0aSf0mHs0Qk0Ak0AAAAAAA=' }

  test('of identifiers and lengths, nested', () => {
    const text = written(one(48, like48), facts({ details, secrets }), 48)
    expect(text).toBe(
      'T22080504M101420701032124328kBMGd0aSf0mHs0Qk0Ak0AAAAAAA=610510000' +
        '66450101202368f3e5b1a-2c4d-4e6f-8a9b-0c1d2e3f4a5b9203123',
    )
    // An entry without a value goes with its length.
    expect(written(one(48, like48), facts(), 48)).toBe(
      'T22080504M10142070103212610510000660501012' + '9203123',
    )
  })

  test('without any value takes its field away', () => {
    const empty = { ...headed, entries: [{ id: '43', from: 'three_ds.cavv' }] }
    expect(written(one(48, empty), facts(), 48)).toBe('')
  })

  test('of positions', () => {
    const places = [
      ...[...'10251000066'].map((value, at) => ({ id: String(at), length: 1, value })),
      { id: 'life', length: 2, value: '00' },
      { id: 'country', length: 3, value: '076' },
      { id: 'postal', length: 10, from: 'merchant.postal_code' },
    ]
    const text = written(one(61, { shape: 'fixed', entries: places }), facts(), 61)
    expect(text).toBe('102510000660007601310100  ')
    expect(text).toHaveLength(26)
  })

  test('of a bitmap, in the order of its bits', () => {
    const network = { id: '1', length: 4, encoding: 'bcd', value: '2' }
    const reason = { id: '3', length: 4, encoding: 'bcd', value: '3900' }
    const of63 = { shape: 'bitmap', bitmap_bytes: 3, entries: [reason, network] }
    expect(hex(written(one(63, of63), facts(), 63))).toBe('A0000000023900')
    const of126 = {
      shape: 'bitmap',
      bitmap_bytes: 8,
      entries: [
        { id: '9', length: 20, encoding: 'base64', from: 'three_ds.cavv' },
        { id: '10', length: 6, value: '11  123'.slice(0, 6) },
        { id: '13', length: 1, encoding: 'ebcdic', value: 'R' },
      ],
    }
    const bytes = hex(written(one(126, of126), facts({ secrets }), 126))
    expect(bytes.slice(0, 16)).toBe('00C8000000000000')
    expect(bytes.slice(16, 56)).toBe(
      Buffer.from(secrets.cavv, 'base64').toString('hex').toUpperCase(),
    )
    expect(bytes.slice(-2)).toBe('D9')
  })

  test('of lengths before identifiers', () => {
    const ltv = {
      shape: 'ltv',
      id_digits: 2,
      length_digits: 4,
      length_encoding: 'bcd',
      entries: [
        { id: 'IN', value: '0803' },
        { id: 'EC', from: 'three_ds.eci' },
      ],
    }
    const given = facts({ details: { eci: '05' } })
    expect(hex(written(one(63, ltv), given, 63))).toBe(`0006${hex('IN0803')}0004${hex('EC05')}`)
  })
})

test('a field with something sensitive in it is stored as hidden, whatever field it is', () => {
  const entries = [
    { id: 'name', length: 20, from: 'merchant.name', cut: true },
    { id: 'value', length: 28, from: 'three_ds.cavv', sensitive: true },
  ]
  const composite = { shape: 'fixed', entries }
  const content = createContent(ascii, form(one(54, composite, { 42: 'SHOP' })))
  const message = content.build(
    'authorization',
    facts({ secrets: { cavv: 'kBMGd0aSf0mHs0Qk0Ak0AAAAAAA=' } }),
  )
  expect(message.additionalAmounts).toContain('kBMGd0aSf0mHs0Qk0Ak0AAAAAAA=')
  expect(shownMessage(content, message).fields).toMatchObject({ '042': 'SHOP', '054': '***' })
  const { additionalAmounts: _, ...without } = message
  const absent = Object.assign(new CardMessage(), without)
  expect(shownMessage(content, absent).fields).not.toHaveProperty('054')
})

describe('what a request gave', () => {
  const content = createContent(
    ascii,
    form({
      messages: {
        authorization: {
          fields: {
            '22': { from: 'entry', map: { chip: '051' } },
            '60': { from: 'soft_descriptor', when: { entry: ['chip'] } },
            '61': { from: 'merchant.name', required: true, cut: true },
          },
        },
      },
    }),
  )
  const carriedOf = (details: Details): number => {
    const given = facts({ details })
    content.build('authorization', given)
    return given.carried
  }

  test('is known to be carried, or not', () => {
    expect(carriedOf({ entry: 'chip' })).toBe(bitOf('entry'))
    expect(carriedOf({ entry: 'ecommerce' })).toBe(0)
    expect(carriedOf({ entry: 'chip', softDescriptor: 'LOJA' })).toBe(
      bitOf('entry') | bitOf('soft_descriptor'),
    )
    expect(carriedOf({ entry: 'ecommerce', softDescriptor: 'LOJA' })).toBe(0)
  })

  test('is asked for where it is needed, and may not be too long', () => {
    expect(() => content.build('authorization', facts({ profile: undefined }))).toThrow(
      MissingFactError,
    )
    const short = createContent(
      parseDialect({ name: 'short', extends: 'ascii', fields: { 60: { max: 4 } } }, dialects),
      form({
        messages: { authorization: { fields: { '60': { from: 'merchant.city', cut: true } } } },
      }),
    )
    expect(short.build('authorization', facts()).more?.get(60)).toBe('SAO ')
    const exact = { shape: 'fixed', entries: [{ id: 'a', length: 15, from: 'merchant.name' }] }
    const strict = () => createContent(ascii, form(one(61, exact)))
    expect(strict).toThrow('at most 15 characters of merchant.name')
    expect(TooLongFactError.name).toBe('TooLongFactError')
  })

  test('and the clock are told at the place of the acquirer', () => {
    const fields = { '12': { from: 'local.time' }, '13': { from: 'local.date' } }
    const local = createContent(ascii, form({ fields, time_zone: '-03:00' }))
    expect(local.build('authorization', facts())).toMatchObject({
      localTime: '131034',
      localDate: '0216',
    })
    expect(local.build('capture', facts({ transmission: '0101013000' }))).toMatchObject({
      localTime: '223000',
      localDate: '1231',
    })
  })
})

describe('a content that cannot be used is refused with its place', () => {
  test.each([
    [{ fields: { '18': { from: 'merchant.mood' } } }, 'fields.18.from: no source merchant.mood'],
    [{ fields: { '18': '58120' } }, 'content.fields.18: '],
    [{ fields: { '18': 'ABCD' } }, 'content.fields.18: '],
    [{ fields: { '22': { from: 'entry', map: { chip: '0511' } } } }, 'content.fields.22: '],
    [{ fields: { '48': 'composite' } }, 'fields.48: composites has no 48'],
    [{ fields: { '18': {} } }, 'fields.18: a value, from'],
    [{ fields: { '18': { value: '1', from: 'stan' } } }, 'value or from'],
    [{ fields: { '18': { value: '5812', required: true } } }, 'need from'],
    [{ fields: { '60': { from: 'card.number' } } }, 'card.number goes into field 2 only'],
    [{ fields: { '60': { from: 'kept.trace' } } }, 'keep has no trace'],
    [{ keep: { pan: { field: 2 } } }, 'keep.pan: field 2 may not be kept'],
    [{ keep: { expiry: { field: 14 } } }, 'keep.expiry: field 14 may not be kept'],
    [{ keep: { trace: { field: 48, path: ['63'] } } }, 'composites.48 has no such path'],
    ...[undefined, ['02'], ['02', '01']].map((path): [unknown, string] => [
      { composites: { '48': secretive }, keep: { trace: { field: 48, path } } },
      'keep.trace: composites.48 has no such path, or it is sensitive',
    ]),
    [{ composites: { '48': secretive }, keep: { trace: { field: 48, path: ['02', '02'] } } }, ''],
    [{ fields: { '150': '1' } }, 'dialect ascii has no field 150'],
    [
      { composites: { '48': { entries: [{ id: '1' }] } } },
      'composites.48: a composite needs a shape',
    ],
    [
      { composites: { '48': { ...headed, entries: [{ id: '1', value: 'x' }] } } },
      'composites.48.entries.0: the id has 2 characters',
    ],
    [
      { composites: { '48': { ...headed, entries: [{ id: '01' }, { id: '01' }] } } },
      'composites.48.entries.1: the id 01 is there twice',
    ],
    [
      { composites: { '61': { shape: 'fixed', entries: [{ id: 'a', value: 'x' }] } } },
      'entries.0: fixed needs a length',
    ],
    [
      {
        composites: {
          '63': { shape: 'bitmap', bitmap_bytes: 1, entries: [{ id: '9', length: 1 }] },
        },
      },
      'the id is a bit from 1 to 8',
    ],
    [{ messages: { authorization: { fields: { '11': null } } } }, ''],
  ])('%j', (json, message) => {
    const create = () => createContent(ascii, form(json))
    if (message === '') expect(create).not.toThrow()
    else expect(create).toThrow(message)
  })

  test('by its form', () => {
    expect(() => form({ fields: { '0': '1' } })).toThrow('a field number')
    expect(() => form({ colour: 'red' })).toThrow('colour')
    expect(() => form({ messages: { authorization: { mti: '0400' } } })).toThrow()
    expect(() => form({ time_zone: 'Brasilia' })).toThrow('an offset')
  })
})

const folder = join(import.meta.dir, '../../../docs/networks')
const example = (name: string): unknown =>
  (JSON.parse(readFileSync(join(folder, `${name}.json`), 'utf8')) as unknown[])[0]

describe('the examples', () => {
  const details: Details = {
    entry: 'ecommerce',
    installmentPlan: 'merchant',
    softDescriptor: 'PADARIA*PEDIDO 42',
    eci: '02',
    dsTransactionId: '8f3e5b1a-2c4d-4e6f-8a9b-0c1d2e3f4a5b',
  }
  const secrets = { cavv: 'kBMGd0aSf0mHs0Qk0Ak0AAAAAAA=' }
  const given = () => facts({ installments: 6, details, secrets })

  test('like Cielo: an e-commerce payment in six parts, and the inspector reads it with the same file', async () => {
    const network = example('cielo-like')
    const { dialect, content } = parseNetwork(network)
    const message = content.build('authorization', given())
    expect(message).toMatchObject({
      mti: '0100',
      processingCode: '003000',
      merchantType: '5812',
      entryMode: '810',
      conditionCode: '59',
      acquirerId: '00000123456',
      expirationDate: '2912',
      localTime: '131034',
      localDate: '0216',
      merchantName: 'PADARIA*PEDIDO 42      SAO PAULO     BRA',
    })
    expect(Buffer.from(message.more?.get(112) ?? '').toString()).toBe('0010042106')
    const bytes = Buffer.from(hexOf(dialect, message), 'hex')
    const { value, fields } = await iso8583Inspector.explain(bytes, { network })
    const { composites } = value as { composites: Readonly<Record<string, unknown>> }
    expect(composites['48']).toEqual([
      {
        id: '42',
        name: 'electronic commerce',
        entries: [{ id: '01', name: 'security level', value: '212' }],
      },
      { id: '43', name: 'authentication value', value: '***' },
      {
        id: '66',
        name: 'authentication',
        entries: [
          { id: '01', name: 'version of 3-D Secure', value: '2' },
          { id: '02', name: "directory server's id", value: details.dsTransactionId },
        ],
      },
    ])
    expect(fields.find(({ name }) => name.startsWith('112 '))?.children).toEqual([
      {
        name: '001 installments',
        children: [
          { name: 'plan', value: '21' },
          { name: 'count', value: '06' },
        ],
      },
    ])
    expect(content.mtiOf('capture')).toBe('0220')
  })

  test('like Rede: the same payment in packed digits, bitmaps and lengths', async () => {
    const network = example('rede-like')
    const { dialect, content } = parseNetwork(network)
    const message = content.build('authorization', given())
    expect(hex(Buffer.from(message.more?.get(63) ?? '').toString('latin1'))).toBe(
      `0006${hex('IN0806')}0004${hex('EC02')}`,
    )
    const bytes = Buffer.from(hexOf(dialect, message), 'hex')
    const { value } = await iso8583Inspector.explain(bytes, { network })
    expect(value).toMatchObject({
      composites: {
        62: [{ id: '1', value: 'Y' }],
        126: [{ id: '9', name: 'authentication value', value: '***' }],
      },
    })
    expect([content.mtiOf('reversal'), content.build('reversal', given(), true).mti]).toEqual([
      '0420',
      '0421',
    ])
  })

  test('need the profile of the merchant', () => {
    for (const name of ['cielo-like', 'rede-like']) {
      const { content } = parseNetwork(example(name))
      expect(() => content.build('authorization', facts({ profile: undefined }))).toThrow(
        'need merchant.category',
      )
    }
  })
})

const noNumber = () => false

test('what the database cannot store is not kept', () => {
  const keep = { trace: { field: 63 }, other: { field: 62 } }
  const { keeper } = createContent(ascii, form({ keep }))
  const texts = new Map([
    [62, 'OTHER '],
    [63, 'TRACE\0\0\0'],
  ])
  expect(keeper?.keep((de) => Buffer.from(texts.get(de) ?? ''), noNumber)).toEqual({
    values: { other: 'OTHER' },
    unread: ['trace'],
  })
})

describe('what is kept of an answer', () => {
  const bytes = Buffer.from('00204142ff20', 'hex')
  const dialect = parseDialect(
    {
      name: 'test',
      extends: 'ascii',
      fields: {
        62: { type: 'b', max: 6, prefixDigits: 0, encoding: 'binary' },
        63: { type: 'b', max: 255, encoding: 'binary' },
      },
    },
    dialects,
  )
  const places = {
    shape: 'fixed',
    entries: [
      { id: 'digits', length: 5, encoding: 'bcd', from: 'kept.digits' },
      { id: 'bytes', length: 4, encoding: 'hex', from: 'kept.bytes' },
      { id: 'text', length: 4, encoding: 'base64', from: 'kept.text' },
      { id: 'name', length: 4, encoding: 'ebcdic', from: 'kept.name' },
    ],
  }
  const content = createContent(
    dialect,
    form({
      composites: { 63: places },
      keep: {
        whole: { field: 62 },
        ...Object.fromEntries(
          places.entries.map(({ id }) => [id, { field: 63, path: [id] }] as const),
        ),
      },
      messages: { capture: { fields: { 62: { from: 'kept.whole' }, 63: 'composite' } } },
    }),
  )
  const of63 = (digits: string) => Buffer.from(`${digits}0020ff4100ff10204040c1c2`, 'hex')
  const keep = (digits: string) =>
    content.keeper?.keep((de) => (de === 62 ? bytes : of63(digits)), noNumber)

  test('goes out as the bytes that it came in, whatever its encoding', () => {
    const kept = keep('012345')
    expect(kept).toEqual({
      values: {
        whole: '00204142FF20',
        digits: '12345',
        bytes: '0020FF41',
        text: 'AP8QIA==',
        name: '  AB',
      },
      unread: [],
    })
    const sent = content.build('capture', facts({ details: { kept: kept?.values ?? {} } }))
    expect(sent.more?.get(62)).toEqual(new Uint8Array(bytes))
    expect(sent.more?.get(63)).toEqual(new Uint8Array(of63('012345')))
  })

  test('is told by its name where it is not of its form, and keeps nothing else out', () => {
    expect(keep('f12345')?.unread).toEqual(['digits'])
    expect(Object.keys(keep('f12345')?.values ?? {})).toEqual(['whole', 'bytes', 'text', 'name'])
    const short = content.keeper?.keep((de) => (de === 62 ? bytes : bytes.subarray(0, 4)), noNumber)
    expect(short?.unread).toEqual(['digits', 'bytes', 'text', 'name'])
    expect(content.keeper?.keep(() => undefined, noNumber)).toEqual({
      values: undefined,
      unread: [],
    })
  })

  test('is left out where a former version kept it in another form: the message goes without it', () => {
    const sent = (kept: Record<string, string>) =>
      content.build('capture', facts({ details: { kept } }))
    for (const whole of ['00204142FF2', 'ZZ2041424344', '  AB', '00204142FF2000'])
      expect(sent({ whole }).more?.get(62)).toBeUndefined()
    const name = 'AB'
    const others = { digits: '12a45', bytes: ' \xffA', text: 'AP8QIA', name: 'ABCDE' }
    expect(sent({ ...others }).more?.get(63)).toBeUndefined()
    expect(sent({ ...others, name }).more?.get(63)).toEqual(
      new Uint8Array(Buffer.from('0000000000000000000000c1c24040', 'hex')),
    )
  })

  test('fits its place, whose bytes are no other text', () => {
    const odd = { messages: { capture: { fields: { 62: 'ABC' } } } }
    expect(() => createContent(dialect, form(odd))).toThrow('hexadecimal digits')
    const long = {
      composites: { 63: { shape: 'fixed', entries: [{ id: 'a', length: 33, encoding: 'hex' }] } },
    }
    const keepIt = { keep: { a: { field: 63, path: ['a'] } } }
    expect(() => createContent(dialect, form({ ...long, ...keepIt }))).toThrow(
      'keep.a: a value of more than 64 characters is not kept',
    )
  })
})
