import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { dialects, parseDialect } from '#codecs/iso8583'
import { contentForm, createContent } from '../../../src/cards/content/index.ts'
import { sampleFacts } from '../../../src/cards/content/samples.ts'
import { numberFinder } from '../../../src/cards/networks/matching.ts'
import { hexOf } from './support.ts'

const contentOf = (json: unknown, dialect = dialects['ascii']!) =>
  createContent(dialect, contentForm.parse(json))

const noNumber = () => false

const facts = (kept: Readonly<Record<string, string>>) => ({
  ...sampleFacts(new Map(), 'capture')[0]!,
  details: { kept },
})

test('an amount with its sign is kept, and sent to a field of such amounts', () => {
  for (const name of ['ascii', 'bcd', 'ebcdic']) {
    const dialect = dialects[name]!
    const content = contentOf(
      {
        keep: { fee: { field: 28 } },
        messages: { capture: { fields: { 28: { from: 'kept.fee' } } } },
      },
      dialect,
    )
    const kept = content.keeper?.keep(() => Buffer.from('D00000100'), noNumber)
    expect(kept).toEqual({ values: { fee: 'D00000100' }, unread: [] })
    const sent = content.build('capture', facts({ ...kept?.values }))
    expect(String(sent.more?.get(28))).toBe('D00000100')
    expect(hexOf(dialect, sent)).toMatch(/^[0-9a-f]+$/)
  }
  const constant = contentOf({ messages: { capture: { fields: { 28: 'C00000250' } } } })
  expect(String(constant.build('capture', facts({})).more?.get(28))).toBe('C00000250')
})

const number = '4000000000000002'
const reference = '4111111111111111'

test.each([
  ['ascii', Buffer.from(`CARD ${number}`)],
  ['ascii', Buffer.from(`${number.slice(0, 8)} ${number.slice(8)}`)],
  ['bcd', Buffer.from(number, 'hex')],
  ['hex', Buffer.from(`${number}D4912`.padEnd(24, 'F'), 'hex')],
  ['hex', Buffer.from(`00${number}`)],
  ['base64', Buffer.from(number, 'hex')],
  ['base64', Buffer.from(number)],
  [
    'ebcdic',
    Buffer.from(
      number.replaceAll(/\d/g, (digit) => `f${digit}`),
      'hex',
    ),
  ],
])('a place with the card number in it is not kept: %s %p', (encoding, bytes) => {
  const entries = [{ id: '01', encoding, from: 'kept.trace' }]
  const content = contentOf(
    {
      composites: { 63: { shape: 'tlv', id_digits: 2, length_digits: 2, entries } },
      keep: { trace: { field: 63, path: ['01'] } },
    },
    parseDialect(
      { name: 'test', extends: 'ascii', fields: { 63: { ...of44, max: 99 } } },
      dialects,
    ),
  )
  const told = Buffer.concat([Buffer.from(`01${String(bytes.length).padStart(2, '0')}`), bytes])
  const keptOf = (pan: string | undefined) =>
    content.keeper?.keep(() => told, numberFinder(pan === undefined ? pan : Buffer.from(pan)))
  expect(keptOf(number)).toEqual({ values: undefined, unread: ['trace'] })
  // An identifier that looks like some card's number is that of no card.
  expect(keptOf(reference)?.unread).toEqual([])
  // In a request without its number, what looks like a number may be one.
  if (encoding === 'ascii') expect(keptOf(undefined)?.unread).toEqual(['trace'])
})

const of44 = { type: 'b', max: 25, prefixDigits: 2, encoding: 'binary' }
const tlv = { shape: 'tlv', id_digits: 2, length_digits: 2 }

test.each([
  [{ field: 28 }, 'X00000100', 'D00000100'],
  [{ field: 28 }, 'D0000010x', 'C00000001'],
  [{ field: 44 }, 'AB\u0001', 'AB~'],
  [{ field: 43 }, 'SHOP\tRECIFE', 'SHOP RECIFE'],
  [{ field: 63, path: ['01'] }, 'AB\u0001', 'AB~'],
  [{ field: 62, path: ['01'] }, 'AB\u0001', 'AB\u0001'],
])('what comes in characters that its field does not carry is not kept: %j', (kept, bad, good) => {
  const dialect = parseDialect(
    { name: 'test', extends: 'ascii', fields: { 62: { ...of44, max: 99 } } },
    dialects,
  )
  const { field } = kept
  const isWhole = !('path' in kept)
  const entries = [{ id: '01', from: 'kept.one' }]
  const content = contentOf(
    {
      ...(isWhole ? {} : { composites: { [field]: { ...tlv, entries } } }),
      keep: { one: kept },
      messages: { capture: { fields: { [field]: isWhole ? { from: 'kept.one' } : 'composite' } } },
    },
    dialect,
  )
  const came = (text: string) =>
    content.keeper?.keep(
      () => Buffer.from(isWhole ? text : `01${String(text.length).padStart(2, '0')}${text}`),
      noNumber,
    )
  expect(came(good)).toEqual({ values: { one: good }, unread: [] })
  hexOf(dialect, content.build('capture', facts({ one: good })))
  if (bad === good) return
  expect(came(bad)).toEqual({ values: undefined, unread: ['one'] })
  // What an earlier version has kept.
  hexOf(dialect, content.build('capture', facts({ one: bad })))
})

const bytesOf44 = parseDialect({ name: 'test', extends: 'ascii', fields: { 44: of44 } }, dialects)

test.each([
  { shape: 'tlv', id_digits: 2, length_digits: 2 },
  { shape: 'ltv', id_digits: 2, length_digits: 2 },
  { shape: 'ltv', id_digits: 2, length_digits: 3, length_encoding: 'bcd' },
])('packed digits without a length have two for each byte of their field: %j', (shape) => {
  const entry = { id: '01', encoding: 'bcd', from: 'kept.trace' }
  const content = contentOf(
    {
      composites: { 44: { ...shape, entries: [entry] } },
      keep: { trace: { field: 44, path: ['01'] } },
      messages: { capture: { fields: { 44: 'composite' } } },
    },
    bytesOf44,
  )
  for (const digits of ['12345678901234567890123456', '12'.repeat(21)]) {
    const sent = content.build('capture', facts({ trace: digits })).more?.get(44)
    expect(sent).toBeInstanceOf(Uint8Array)
    expect(content.keeper?.keep(() => sent as Uint8Array, noNumber)).toEqual({
      values: { trace: digits },
      unread: [],
    })
  }
})

const lengthy44 = parseDialect(
  { name: 'test', extends: 'ascii', fields: { 44: { ...of44, max: 40 } } },
  dialects,
)
const fixed44 = { shape: 'fixed', entries: [{ id: '1', length: 8, from: 'merchant.postal_code' }] }

test.each([
  { value: 'ABCDEFGH' },
  { value: 'A', length: 8 },
  { value: '4142434445464748', encoding: 'hex' },
  { value: 'QUJDREVGR0g=', encoding: 'base64' },
  { from: 'currency', map: { '986': 'A', '840': 'ABCDEFGH' } },
  { from: 'merchant.postal_code' },
  fixed44,
])('digits have what the other entries leave of their field: %j', (other) => {
  const content = contentOf(
    {
      composites: {
        44: {
          shape: 'tlv',
          id_digits: 2,
          length_digits: 2,
          entries: [
            { id: '01', encoding: 'bcd', from: 'kept.trace' },
            { id: '02', ...other },
          ],
        },
      },
      keep: { trace: { field: 44, path: ['01'] } },
      messages: { capture: { fields: { 44: 'composite' } } },
    },
    lengthy44,
  )
  const came = (digits: number) =>
    Buffer.concat([
      Buffer.from(`01${String(digits / 2).padStart(2, '0')}`),
      Buffer.from('12'.repeat(digits / 2), 'hex'),
    ])
  const trace = '12'.repeat(24)
  expect(content.keeper?.keep(() => came(48), noNumber)).toEqual({ values: { trace }, unread: [] })
  expect(content.keeper?.keep(() => came(50), noNumber)).toEqual({
    values: undefined,
    unread: ['trace'],
  })
  hexOf(lengthy44, content.build('capture', facts({ trace })))
})

test('other entries leave as much as there is to what is not sent beside them', () => {
  const content = contentOf(
    {
      composites: {
        44: {
          shape: 'tlv',
          id_digits: 2,
          length_digits: 2,
          entries: [{ id: '01' }, { id: '02', value: 'ABCDEFGH' }],
        },
      },
      keep: { trace: { field: 44, path: ['01'] } },
      messages: { capture: { fields: { 44: 'composite', 120: { from: 'kept.trace' } } } },
    },
    lengthy44,
  )
  const trace = 'T'.repeat(36)
  const kept = content.keeper?.keep(() => Buffer.from(`0136${trace}`), noNumber)
  expect(kept?.values).toEqual({ trace })
})

const encodings = ['ascii', 'ebcdic', 'bcd', 'hex', 'base64']
const lengths = [undefined, 4, 5]
const entries = encodings.flatMap((encoding, i) =>
  lengths.map((length, j) => ({
    id: String(i * lengths.length + j).padStart(2, '0'),
    encoding,
    ...(length === undefined ? {} : { length }),
  })),
)
const privateField = { type: 'b', max: 999, prefixDigits: 3, encoding: 'binary' }
const dialectOf63 = parseDialect(
  { name: 'test', extends: 'ascii', fields: { 63: privateField } },
  dialects,
)
const headed = { id_digits: 2, length_digits: 3 }
const id = fc.constantFrom(...entries.map((entry) => entry.id))
const someBytes = fc.oneof(
  fc.uint8Array({ maxLength: 40 }),
  fc.uint8Array({ minLength: 4, maxLength: 5 }),
  fc.stringMatching(/^[0-9A ]{0,8}$/).map((text) => Buffer.from(text)),
)

test.each([
  ['tlv', headed],
  ['ltv', { ...headed, length_encoding: 'bcd' }],
  ['fixed', {}],
  ['bitmap', { bitmap_bytes: 2 }],
] as const)('whatever comes in %s: what is kept is sent, and all else is told', (shape, more) => {
  const isPlaced = shape === 'fixed' || shape === 'bitmap'
  const places = entries
    .filter(({ length }) => length !== undefined || !isPlaced)
    .map((entry) => ({
      ...entry,
      id: shape === 'bitmap' ? String(Number(entry.id) + 1) : entry.id,
    }))
  const content = contentOf(
    {
      composites: {
        63: {
          shape,
          ...more,
          entries: places.map((entry) => ({ ...entry, from: `kept.k${entry.id}` })),
        },
      },
      keep: Object.fromEntries(
        places.map((entry) => [`k${entry.id}`, { field: 63, path: [entry.id] }]),
      ),
      messages: { capture: { fields: { 63: 'composite' } } },
    },
    dialectOf63,
  )
  const keep = (bytes: Uint8Array) => content.keeper!.keep(() => bytes, noNumber)
  const told = fc.array(fc.tuple(id, someBytes), { maxLength: 8 }).map((values) =>
    Buffer.concat(
      values.map(([name, value]) => {
        const count = String(value.length + (shape === 'ltv' ? name.length : 0))
        const head =
          shape === 'ltv'
            ? Buffer.concat([Buffer.from(count.padStart(4, '0'), 'hex'), Buffer.from(name)])
            : Buffer.from(shape === 'tlv' ? name + count.padStart(3, '0') : '')
        return Buffer.concat([head, value])
      }),
    ),
  )
  const came = fc.oneof(told, fc.uint8Array({ maxLength: 60 }))
  fc.assert(
    fc.property(came, (bytes) => {
      const { values = {} } = keep(bytes)
      const sent = content.build('capture', facts(values))
      const again = sent.more?.get(63)
      const names = again === undefined ? [] : Object.keys(keep(again as Uint8Array).values ?? {})
      expect(names).toEqual(expect.arrayContaining(Object.keys(values)))
      hexOf(dialectOf63, sent)
    }),
  )
})
